import type { RecordId } from '../../protocol/change.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import type { Query } from '../options.ts'
import { isComposite } from '../same.ts'
import type { PendingWrite } from '../writes/pending-write.ts'
import type { Rows } from './diff.ts'
import { matchesWhere } from './match-where.ts'
import { sortOrder } from './sort-order.ts'

/** What a live query shows: its rows with the pending writes of its model applied in their order. */
export function overlay(
  base: Rows,
  writes: readonly PendingWrite[],
  query: Query,
  key: string,
  /** The record of an update as another live query with the same content has it. */
  elsewhere: (write: PendingWrite) => JsonObject | undefined,
): Rows {
  const rows = [...base]
  const compare = sortOrder(query.sort, key)
  /** Records as the earlier writes leave them, also those that are not in the list. */
  const known = new Map<RecordId, JsonObject>()
  for (const write of writes) {
    const { kind, id, values, record } = write
    const time = new Date(Number(write.key.split('-')[0])).toISOString()
    const index = rows.findIndex((row) => row[key] === id)
    const shown = rows[index]
    if (shown) rows.splice(index, 1)
    if (kind === 'destroy') continue
    const before = shown ?? known.get(id) ?? (kind === 'update' ? (elsewhere(write) ?? record) : blank(base[0]))
    if (!before) continue
    const written = {
      ...(kind === 'create' && { createdAt: time }),
      updatedAt: time,
      ...values,
      ...record,
      [key]: id,
    }
    const after = merge(before, written, query, key, base)
    known.set(id, after)
    const matches = matchesWhere(query.where, { ...after, ...written })
    // Where that is not known, it stays.
    if (!(matches ?? shown)) continue
    // It stays where the rows do not say what decides about its place.
    const place = shown && !compare(shown, after) ? index : rows.findIndex((row) => compare(after, row) < 0)
    const at = place < 0 ? rows.length : place
    // What comes first on a later page may belong to the one before.
    if (shown || at || !query.skip) rows.splice(at, 0, after)
  }
  return rows.slice(0, query.limit as number | undefined)
}

/** A record in which everything is absent, in the form of another. */
const blank = (sample: JsonObject = {}): JsonObject =>
  Object.fromEntries(Object.entries(sample).map(([name, value]) => [name, Array.isArray(value) ? [] : null]))

/** The attributes of the row with the written values. Attributes that the query leaves out stay out. */
function merge(row: JsonObject, written: JsonObject, query: Query, key: string, rows: Rows): JsonObject {
  const { select, omit, populate } = query
  const form = rows[0]
  const result: Record<string, Json> = { ...row }
  for (const [name, value] of Object.entries(written)) {
    if (isEmbedded(populate, name)) result[name] = embedded(name, value, row, rows)
    else if (form ? name in form : isSelected(name, key, select, omit)) result[name] = value
  }
  return result
}

/** Of `select` and `omit`. */
type Names = readonly string[] | string

const isSelected = (name: string, key: string, select: Json | undefined, omit: Json | undefined): boolean =>
  name === key || (select ? (select as Names).includes(name) : !(omit as Names | undefined)?.includes(name))

const isEmbedded = (populate: Json | undefined, name: string): boolean =>
  Array.isArray(populate) ? populate.includes(name) : isComposite(populate) && name in populate

/** The record that a written key stands for, if one of the rows contains it. To-many lists wait for the stream. */
function embedded(name: string, value: Json, row: JsonObject, rows: Rows): Json {
  const known = row[name]
  if (Array.isArray(known)) return known
  if (value === null || isComposite(value)) return value
  const isIt = (other: Json | undefined) => isComposite(other) && Object.values(other)[0] === value
  return [known, ...rows.map((other) => other[name])].find(isIt) ?? { id: value }
}
