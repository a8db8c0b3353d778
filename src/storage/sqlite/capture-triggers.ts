import { createHash } from 'node:crypto'
import type { Model } from '../../model/model.ts'
import type { Verb } from '../../protocol/change.ts'
import { capturedColumns, logTable } from '../capture.ts'
import type { ExistingTable } from '../schema.ts'
import { sqliteDialect } from './dialect.ts'

/** Changes when the text below does, or how it is read. */
const format = '3'

/** How the changes of one table get into the log. */
export interface Capture {
  readonly table: string
  /** The columns that images hold. */
  readonly columns: readonly string[]
  /** Those that tell its rows apart, as the table itself says. */
  readonly key: readonly string[]
  /** The format and a hash of the definition, part of the triggers' names. */
  readonly version: string
}

/** Says the same for the same table and columns, whichever process asks. */
export function captureOf(model: Model, { name, columns, key }: ExistingTable, recorded: readonly string[]): Capture {
  const captured = capturedColumns(model, recorded, new Set(columns.keys()))
  const definition = JSON.stringify([name, key, captured])
  const hash = createHash('sha1').update(definition).digest('hex').slice(0, 10)
  return { table: name, columns: captured, key, version: `${format}_${hash}` }
}

/** Whether what a capture of this version has written is read as what we write. */
export const isOurFormat = (version: string): boolean => version.startsWith(`${format}_`)

const { identifier } = sqliteDialect
const text = (value: string): string => `'${value.replaceAll("'", "''")}'`

/** A function takes at most a thousand arguments, and older libraries 127. */
const columnsPerObject = 50

/**
 * Triggers that write every change of a table into the log, in the transaction of whoever makes it. They must never
 * fail: bytes anywhere, any number of columns. They know nothing of types: what an image means is up to its reader.
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

/** For people who look into the log. */
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
  // {…} and {…} become {…,…}: the last brace of all but the last goes, and the first of all but the first.
  return objects
    .map((object, index) => {
      const headless = index === 0 ? object : `substr(${object}, 2)`
      return index === objects.length - 1 ? headless : `substr(${headless}, 1, length(${headless}) - 1)`
    })
    .join(` || ',' || `)
}

/**
 * Bytes stand in a list, which nothing else does: a text that a JSON function made would be taken for JSON here, and is
 * joined to nothing, so that it is a text.
 */
function imageValue(row: 'old' | 'new', column: string): string {
  const value = `${row}.${identifier(column)}`
  return `case typeof(${value}) when 'text' then ${value} || '' when 'blob' then json_array(hex(${value})) else ${value} end`
}
