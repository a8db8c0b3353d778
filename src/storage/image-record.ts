import { allAttributes } from '../criteria/criteria.ts'
import { storedSelection } from '../criteria/stored-selection.ts'
import { computedValue, storedSources } from '../model/computed.ts'
import type { Attribute, Model } from '../model/model.ts'
import type { Json, JsonObject } from '../protocol/json.ts'

/** The attributes that the images of a model contain: those that are shown, and those that computed ones depend on. */
export const imageAttributes = (model: Model): readonly Attribute[] => storedSelection(allAttributes(model))

const reported = new WeakSet<Attribute>()

/**
 * The record of an image, without hidden attributes. `read` returns undefined for what was not captured when the image was
 * written. A `get` that fails makes its value null: an event must not end the delivery of others.
 */
export function imageRecord(model: Model, read: (attribute: Attribute) => Json | undefined): JsonObject {
  const record: Record<string, Json> = {}
  for (const attribute of allAttributes(model)) {
    if (attribute.computed) continue
    const value = read(attribute)
    if (value !== undefined) record[attribute.name] = value
  }
  for (const attribute of model.computed.values()) {
    const sources = storedSources(attribute).map((source) => [source.name, read(source)] as const)
    if (sources.every(([, value]) => value !== undefined))
      record[attribute.name] = valueInEvent(attribute, model, Object.fromEntries(sources) as JsonObject)
  }
  return record
}

function valueInEvent(attribute: Attribute, model: Model, sources: JsonObject): Json {
  try {
    return computedValue(attribute, sources)
  } catch (error) {
    if (!reported.has(attribute)) {
      reported.add(attribute)
      process.emitWarning(`The computed attribute ${model.name}.${attribute.name} failed for an event: ${error}`)
    }
    return null
  }
}
