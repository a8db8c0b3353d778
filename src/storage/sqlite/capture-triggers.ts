import type { Attribute, Model } from '../../model/model.ts'
import type { Verb } from '../../protocol/change.ts'
import { type Capture, logTable } from '../capture.ts'
import { sqliteDialect } from './dialect.ts'

/** Changes when the text below does. */
export const captureFormat = 'sqlite-2'

const { identifier } = sqliteDialect
const text = (value: string): string => `'${value.replaceAll("'", "''")}'`

/** A function takes at most a thousand arguments, and older libraries 127. */
const columnsPerObject = 50

/**
 * Triggers that write every change of a table into the log, in the transaction of whoever makes it. They must never
 * fail: text that is not JSON in a JSON column, bytes anywhere, any number of columns.
 */
export function captureTriggers(model: Model, capture: Capture): readonly string[] {
  const byColumn = new Map([...model.attributes.values()].map((attribute) => [attribute.column, attribute]))
  const image = (row: 'old' | 'new') => imageOf(row, capture.columns, byColumn)
  const key = (row: 'old' | 'new') =>
    `json_array(${model.key.map((attribute) => imageValue(row, attribute.column, attribute)).join(', ')})`
  const entry = (verb: Verb, row: 'old' | 'new', before: string, after: string) =>
    `insert into ${logTable} (model, verb, id, before, after) values (${text(model.name)}, '${verb}', ${key(row)}, ${before}, ${after});`
  const keyStays = model.key.map(({ column }) => `old.${identifier(column)} is new.${identifier(column)}`).join(' and ')
  const trigger = (name: string, event: string, when: string, body: string) =>
    `create trigger ${identifier(triggerName(capture, name))} after ${event} on ${identifier(capture.table)}${when} begin ${body} end`
  return [
    trigger('insert', 'insert', '', entry('created', 'new', 'null', image('new'))),
    trigger('update', 'update', ` when ${keyStays}`, entry('updated', 'new', image('old'), image('new'))),
    trigger(
      'rekey',
      'update',
      ` when not (${keyStays})`,
      entry('destroyed', 'old', image('old'), 'null') + entry('created', 'new', 'null', image('new')),
    ),
    trigger('delete', 'delete', '', entry('destroyed', 'old', image('old'), 'null')),
  ]
}

export const triggerNames = (capture: Capture): readonly string[] =>
  ['insert', 'update', 'rekey', 'delete'].map((name) => triggerName(capture, name))

const triggerName = (capture: Capture, event: string): string => `keelson_${capture.table}_${event}_${capture.version}`

function imageOf(row: 'old' | 'new', columns: readonly string[], attributes: ReadonlyMap<string, Attribute>): string {
  const objects: string[] = []
  for (let from = 0; from < columns.length; from += columnsPerObject) {
    const members = columns
      .slice(from, from + columnsPerObject)
      .map((column) => `${text(column)}, ${imageValue(row, column, attributes.get(column))}`)
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

function imageValue(row: 'old' | 'new', column: string, attribute: Attribute | undefined): string {
  const value = `${row}.${identifier(column)}`
  if (attribute?.isPrimaryKey && attribute.autoIncrement && attribute.type.storedAs === 'integer') return value // a row id
  switch (attribute?.type.storedAs) {
    case 'json':
      return `case when typeof(${value}) = 'blob' then hex(${value}) when json_valid(${value}) then json(${value}) else ${value} end`
    case 'bigint':
      return `cast(${value} as text)`
    default:
      return `case when typeof(${value}) = 'blob' then hex(${value}) else ${value} end`
  }
}
