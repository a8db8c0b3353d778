import type { Association, HasMany, ManyToMany, Model } from '../model/model.ts'
import { type InvalidAttributes, ServiceError, type Violation } from '../protocol/errors.ts'
import { isJsonObject, type Json } from '../protocol/json.ts'
import type { Context, Parameters } from './operation.ts'
import { reserved } from './reserved.ts'

/** What somebody gave for a record: values of attributes, and the members of associations. */
export interface RecordValues {
  readonly values: ReadonlyMap<string, Json>
  readonly members: readonly Members[]
}

export interface Members {
  readonly association: HasMany | ManyToMany
  readonly ids: readonly Json[]
  /** They came as whole records, so what was left out may have been left out of the answer they are from. */
  readonly wereRecords: boolean
}

/**
 * The values somebody gave for a record, the body's before the query string's. What a find returned may be sent back:
 * the times we keep are passed over, and an embedded record counts as its id; `withKey` says whether the record's own
 * key is taken or passed over too. Throws E_INVALID_ATTRIBUTES naming every name that is unknown.
 */
export function readValues(
  { query, body }: Parameters,
  model: Model,
  { unknownAttributes, limits }: Context,
  { withKey }: { readonly withKey: boolean },
): RecordValues {
  const values = new Map<string, Json>()
  const members = new Map<string, Members>()
  const invalid: Record<string, readonly Violation[]> = Object.create(null)
  const take = (name: string, raw: Json) => {
    const attribute = model.attributes.get(name)
    if (attribute) {
      if (attribute.autoCreatedAt || attribute.autoUpdatedAt || (attribute.isPrimaryKey && !withKey)) return
      values.set(
        name,
        attribute.references && isJsonObject(raw) ? (raw[attribute.references.primaryKey.name] ?? raw) : raw,
      )
      return
    }
    const association = model.associations.get(name)
    if (association && association.kind !== 'belongsTo') {
      const read = readMembers(raw, association, limits.maxAssociated)
      if (typeof read === 'string') invalid[name] = [{ rule: 'type', message: read }]
      else members.set(name, read)
    } else if (name !== 'id' && unknownAttributes === 'refuse') {
      invalid[name] = [{ rule: 'unknown', message: `is not an attribute of ${model.name}` }]
    }
  }
  for (const name of Object.keys(query)) if (!reserved.has(name)) take(name, query[name] as Json)
  for (const name of Object.keys(body)) take(name, body[name] as Json)
  if (Object.keys(invalid).length > 0) throw refusal(model, invalid)
  return { values, members: [...members.values()] }
}

/** Keys of records, or the records themselves; one alone is a list of one. Says what is wrong instead. */
export function readMembers(
  raw: Json,
  association: Exclude<Association, { kind: 'belongsTo' }>,
  most: number,
): Members | string {
  const { primaryKey } = association.target
  const items = listOf(raw)
  if (!items) return `takes a list of ids of ${association.target.name}`
  if (items.length > most) return `takes at most ${most} ids`
  const ids = new Set<Json>()
  let wereRecords = false
  for (const item of items) {
    wereRecords ||= isJsonObject(item)
    const key = isJsonObject(item) ? item[primaryKey.name] : item
    const id = key === undefined || key === null || typeof key === 'object' ? undefined : primaryKey.type.parse(key)
    if (id === undefined) return `takes ids of ${association.target.name}, and each is ${primaryKey.type.noun}`
    ids.add(id)
  }
  return { association, ids: [...ids], wereRecords }
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

function refusal(model: Model, invalidAttributes: InvalidAttributes): ServiceError {
  const names = Object.keys(invalidAttributes).slice(0, 5)
  const message = names.map((name) => `"${name.slice(0, 60)}" ${invalidAttributes[name]?.[0]?.message}`).join('; ')
  return new ServiceError('E_INVALID_ATTRIBUTES', message, { model: model.name, invalidAttributes })
}
