import type { Position } from '../../protocol/change.ts'
import type { SubscriptionEvent } from '../../protocol/event.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { offsetText, type ShapeRequest } from './shape-request.ts'

const operations = { created: 'insert', updated: 'update', destroyed: 'delete' } as const

/** A record of the list as the message of its insertion. */
export const insertMessage = (record: JsonObject, key: string, request: ShapeRequest): JsonObject =>
  message('insert', record[key] as Json, columnsOf(record, key, request), request)

/** An event as a message; undefined for those of associations, whose records have messages of their own. */
export function eventMessage(event: SubscriptionEvent, key: string, request: ShapeRequest): JsonObject | undefined {
  if (event.verb === 'addedTo' || event.verb === 'removedFrom') return undefined
  const data = event.verb === 'destroyed' ? {} : event.data
  const previous = event.verb === 'updated' && request.isFull ? event.previous : {}
  const value = { ...columnsOf({ ...previous, ...data }, key, request), [key]: event.id }
  return message(operations[event.verb], event.id, value, request)
}

const message = (operation: string, id: Json, value: JsonObject, { table }: ShapeRequest): JsonObject => ({
  key: `"${table}"/${JSON.stringify(String(id))}`,
  value,
  headers: { operation, relation: ['public', table] },
})

function columnsOf(record: JsonObject, key: string, { columns }: ShapeRequest): JsonObject {
  if (!columns) return record
  return Object.fromEntries(Object.entries(record).filter(([name]) => name === key || columns.has(name)))
}

/** Everything up to a position was sent. A stream takes the offset to continue at from here. */
export const upToDate = (position?: Position): JsonObject => ({
  headers: { control: 'up-to-date', ...(position !== undefined && { global_last_seen_lsn: offsetText({ position }) }) },
})

export const mustRefetch: JsonObject = { headers: { control: 'must-refetch' } }
