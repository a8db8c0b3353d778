import type { HasMany, ManyToMany, Model } from '../model/model.ts'
import { ServiceError, type Violation } from '../protocol/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import type { ParameterValues } from './operation.ts'
import { keyOf } from './record-key.ts'

/** Existing records that become the members of an association. */
export interface Members {
  readonly association: HasMany | ManyToMany
  readonly ids: readonly Json[]
  /** They were given as whole records, so the list may be truncated like the answer it was taken from. */
  readonly wereRecords: boolean
}

/**
 * Throws E_FORBIDDEN for an association whose members are written to a foreign key that the requester may not write. It
 * names the association: the name of the key may be hidden.
 */
export function assertMayWriteMembers(
  association: HasMany | ManyToMany,
  { name: modelName }: Model,
  mayWrite: ParameterValues['mayWrite'],
): void {
  const { name } = association
  const keys = association.kind === 'hasMany' ? [association.via] : [association.near, association.far]
  if (!mayWrite || keys.every(mayWrite)) return
  throw new ServiceError('E_FORBIDDEN', `You may not write "${name}" of ${modelName}`, { attribute: name })
}

/** Reads keys of records, or the records themselves; one alone is a list of one. Returns what is wrong with them. */
export function readMembers(raw: Json, association: HasMany | ManyToMany, most: number): Members | Violation {
  const { target } = association
  const { primaryKey } = target
  const items = listOf(raw)
  if (!items) return { rule: 'type', message: `takes a list of ids of ${target.name}` }
  if (items.length > most) return { rule: 'maxAssociated', message: `takes at most ${most} ids` }
  const ids = new Set<Json>()
  let wereRecords = false
  for (const item of items) {
    wereRecords ||= isJsonObject(item)
    const id = keyOf(isJsonObject(item) ? item[primaryKey.name] : item, target)
    if (id === undefined)
      return { rule: 'type', message: `takes ids of ${target.name}, and each is ${primaryKey.type.noun}` }
    ids.add(id)
  }
  return { association, ids: [...ids], wereRecords }
}

/** Separates the new records of a list from the others. */
export function splitMembers(
  raw: Json,
  isNew: (item: Json) => item is JsonObject,
): { readonly existing: Json; readonly added: readonly JsonObject[] } {
  if (isJsonObject(raw) && isNew(raw)) return { existing: [], added: [raw] }
  const items = listOf(raw)
  if (!items) return { existing: raw, added: [] }
  return { existing: items.filter((item) => !isNew(item)), added: items.filter(isNew) }
}

/** In a query string a list may be JSON: `?pets=[1,2]`. */
function listOf(raw: Json): readonly Json[] | undefined {
  if (Array.isArray(raw)) return raw
  if (raw === null || isJsonObject(raw)) return undefined
  if (typeof raw !== 'string' || !raw.startsWith('[')) return [raw as Json]
  try {
    return JSON.parse(raw)
  } catch {
    return undefined
  }
}
