import { createHash } from 'node:crypto'
import type { Model } from '../../../model/model.ts'
import type { Verb } from '../../../protocol/change.ts'
import { capturedColumns, logTable } from '../../capture.ts'
import type { ExistingTable } from '../../schema.ts'
import { sqliteDialect } from '../dialect.ts'

/** Changes with the text of the triggers, with the format of images and with that of the log. */
const format = '5'

/** The change capture of one table. */
export interface Capture {
  readonly table: string
  /** The columns in an image. */
  readonly columns: readonly string[]
  /** The primary key of the table. */
  readonly key: readonly string[]
  /** The format and a hash of the definition, part of the triggers' names. */
  readonly version: string
}

/** Depends only on the table and its columns, so that all processes agree. */
export function captureOf(model: Model, { name, columns, key }: ExistingTable, recorded: readonly string[]): Capture {
  const captured = capturedColumns(model, recorded, new Set(columns.keys()))
  const definition = JSON.stringify([name, key, captured])
  const hash = createHash('sha1').update(definition).digest('hex').slice(0, 10)
  return { table: name, columns: captured, key, version: `${format}_${hash}` }
}

/** Whether images written by a capture of this version have the current format. */
export const isOurFormat = (version: string): boolean => version.startsWith(`${format}_`)

const { identifier } = sqliteDialect
const text = (value: string): string => `'${value.replaceAll("'", "''")}'`

/** A function takes at most a thousand arguments, and older libraries 127. */
const columnsPerObject = 50

/**
 * Triggers that write every change of a table to the log, in the transaction of the change. They must never fail, with
 * blobs in any column and any number of columns. They do not depend on attribute types, which the reader applies.
 */
export function captureTriggers(capture: Capture): readonly string[] {
  const entry = (verb: Verb, row: 'old' | 'new', before: string, after: string) =>
    `insert into ${logTable} (model, verb, id, before, after) values (${text(capture.table)}, '${verb}', ${keyOf(row, capture)}, ${before}, ${after});`
  const trigger = (event: Event, body: string) =>
    `create trigger ${identifier(triggerName(capture, event))} after ${event} on ${identifier(capture.table)} begin ${body} end`
  const image = (row: 'old' | 'new') => imageOf(row, capture)
  return [
    trigger('insert', entry('created', 'new', 'null', image('new'))),
    trigger('update', entry('updated', 'new', image('old'), image('new'))),
    trigger('delete', entry('destroyed', 'old', image('old'), 'null')),
  ]
}

const events = ['insert', 'update', 'delete'] as const
type Event = (typeof events)[number]

export const triggerNames = (capture: Capture): readonly string[] => events.map((event) => triggerName(capture, event))

const triggerName = ({ table, version }: Capture, event: Event): string => `keelson_${table}_${event}_${version}`

/** For manual inspection of the log. */
const keyOf = (row: 'old' | 'new', { key }: Capture): string =>
  `json_array(${key.map((column) => imageValue(row, column)).join(', ')})`

function imageOf(row: 'old' | 'new', { columns }: Capture): string {
  const objects: string[] = []
  for (let from = 0; from < columns.length; from += columnsPerObject) {
    const members = columns
      .slice(from, from + columnsPerObject)
      .map((column) => `${text(column)}, ${imageValue(row, column)}`)
    objects.push(`json_object(${members.join(', ')})`)
  }
  if (objects.length === 1) return objects[0] as string
  // {…} and {…} become {…,…}: inner braces are removed.
  return objects
    .map((object, index) => {
      const headless = index === 0 ? object : `substr(${object}, 2)`
      return index === objects.length - 1 ? headless : `substr(${headless}, 1, length(${headless}) - 1)`
    })
    .join(` || ',' || `)
}

/**
 * Blobs are arrays, as no other value is. Text is concatenated with an empty string, which removes the JSON subtype that
 * a JSON function may have set. Older libraries write a number in JSON with 15 digits and an infinity as a word, which is no
 * JSON: `quote` writes all digits.
 */
function imageValue(row: 'old' | 'new', column: string): string {
  const value = `${row}.${identifier(column)}`
  const real = `case when abs(${value}) < 9e999 then json(quote(${value})) end`
  return `case typeof(${value}) when 'text' then ${value} || '' when 'blob' then json_array(hex(${value})) when 'real' then ${real} else ${value} end`
}
