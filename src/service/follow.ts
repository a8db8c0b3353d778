import type { Populate } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import type { Outcome } from '../operation/operation.ts'
import type { RecordId } from '../protocol/change.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { Follow } from '../realtime/hub.ts'
import type { Match } from './route.ts'

/**
 * What a request over a connection that stays makes it listen to: the records it was answered, those embedded in them,
 * and for what is new the model it listed and those embedded. As the ancestor does, whose clients count on it.
 */
export function followOf(
  { model, records, populate }: Outcome,
  { operation, model: asked, association }: Match,
): Follow {
  if (operation.name === 'destroy') return { records: [], models: [] }
  const ids = new Map<string, Set<RecordId>>()
  const models = new Set<string>()
  collect(records.decode(), model, populate, ids)
  if (operation.name === 'find') models.add(model.name)
  if (operation.effect === 'reads') {
    for (const other of asked.associations.values()) models.add(other.target.name)
    if (association) models.add(association.target.name)
  }
  return { records: [...ids].map(([name, found]) => ({ model: name, ids: [...found] })), models: [...models] }
}

function collect(
  records: readonly JsonObject[],
  model: Model,
  populate: readonly Populate[],
  ids: Map<string, Set<RecordId>>,
): void {
  const found = ids.get(model.name) ?? new Set<RecordId>()
  ids.set(model.name, found)
  for (const record of records) found.add(record[model.primaryKey.name] as RecordId)
  for (const { association, populate: deeper } of populate) {
    const others = records.flatMap((record) => listOf(record[association.name]))
    collect(others, association.target, deeper, ids)
  }
}

const listOf = (value: Json | undefined): readonly JsonObject[] =>
  value === null || value === undefined ? [] : ((Array.isArray(value) ? value : [value]) as readonly JsonObject[])
