import type { Model } from '../model/model.ts'
import { type InvalidAttributes, ServiceError, type Violation } from '../protocol/errors.ts'
import { isJsonObject, type Json } from '../protocol/json.ts'
import type { Context, Parameters } from './operation.ts'
import { reserved } from './reserved.ts'

/**
 * The values somebody gave for a record, by attribute: the body's before the query string's. What a find returned may
 * be sent back, so the times we keep are passed over, and an embedded record counts as its id; `withKey` says whether
 * the record's own key is taken or passed over too. Throws E_INVALID_ATTRIBUTES naming every name that is unknown.
 */
export function readValues(
  { query, body }: Parameters,
  model: Model,
  { unknownAttributes }: Context,
  { withKey }: { readonly withKey: boolean },
): ReadonlyMap<string, Json> {
  const values = new Map<string, Json>()
  const unknown: Record<string, readonly Violation[]> = {}
  const take = (name: string, raw: Json) => {
    const attribute = model.attributes.get(name)
    if (attribute) {
      if (attribute.autoCreatedAt || attribute.autoUpdatedAt || (attribute.isPrimaryKey && !withKey)) return
      values.set(name, attribute.references && isJsonObject(raw) ? (raw[attribute.references.primaryKey.name] ?? raw) : raw)
    } else if (name !== 'id' && unknownAttributes === 'refuse') {
      unknown[name] = [{ rule: 'unknown', message: reasonFor(model, name) }]
    }
  }
  for (const name of Object.keys(query)) if (!reserved.has(name)) take(name, query[name] as Json)
  for (const name of Object.keys(body)) take(name, body[name] as Json)
  if (Object.keys(unknown).length > 0) throw unknownNames(model, unknown)
  return values
}

const reasonFor = (model: Model, name: string): string =>
  model.associations.has(name) ? 'is a to-many association and cannot be set here yet' : `is not an attribute of ${model.name}`

const unknownNames = (model: Model, invalidAttributes: InvalidAttributes): ServiceError => {
  const names = Object.keys(invalidAttributes).slice(0, 5)
  const message = names.map((name) => `"${name.slice(0, 60)}" ${invalidAttributes[name]?.[0]?.message}`).join('; ')
  return new ServiceError('E_INVALID_ATTRIBUTES', message, { model: model.name, invalidAttributes })
}
