import type { Populate } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import type { Outcome } from '../operation/operation.ts'
import { parseKey } from '../operation/record-key.ts'
import type { RecordId } from '../protocol/change.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { Added, Follow } from '../realtime/hub.ts'
import { must } from '../support/assert.ts'
import type { Match } from './route.ts'

/**
 * What a request over a connection that stays makes it listen to, as the ancestor does, whose clients count on it. Who
 * reads follows what it was answered, with what is embedded in it, and hears of new records of the models it listed or
 * could have been embedded. Who writes follows the record it wrote.
 */
export function followOf(outcome: Outcome, match: Match): Follow {
  const { operation } = match
  if (operation.effect === 'reads') return followOfReading(outcome, match)
  switch (operation.name) {
    case 'create':
    case 'update':
      return { records: [own(outcome)], models: [] }
    case 'add':
      return followOfAdding(outcome, match)
    case 'replace':
      return followOfReplacing(outcome, match)
    default:
      return nothing
  }
}

const nothing: Follow = { records: [], models: [] }

function followOfReading({ model, records, populate, kind }: Outcome, match: Match): Follow {
  const ids = new Map<string, Set<RecordId>>()
  const models = new Set<string>()
  if (populate.length > 0) collect(records.decode(), model, populate, ids)
  else ids.set(model.name, new Set(records.values(model.primaryKey) as RecordId[]))
  if (match.association) entryOf(ids, match.model).add(parentOf(match))
  if (match.operation.name === 'find') models.add(model.name)
  const found = kind === 'list' && !match.association ? records.length : 1
  if (found > 0) for (const { target } of match.model.associations.values()) models.add(target.name)
  return { records: [...ids].map(([name, found]) => ({ model: name, ids: [...found] })), models: [...models] }
}

/** The member is followed even if it was one before. */
function followOfAdding(outcome: Outcome, { association }: Match): Follow {
  const { target } = must(association, 'a route without its association')
  const member = must(outcome.member, 'an addition without its member') as RecordId
  return { records: [own(outcome), { model: target.name, ids: [member] }], models: [] }
}

/** Of the members those are followed that the log calls new. */
function followOfReplacing(outcome: Outcome, { association }: Match): Follow {
  const { name, target } = must(association, 'a route without its association')
  const { model, ids } = own(outcome)
  const added: Added = { model, id: ids[0] as RecordId, attribute: name, target: target.name }
  return { records: [{ model, ids }], models: [], added }
}

/** The record that was written. */
const own = ({ model, records }: Outcome) => ({
  model: model.name,
  ids: records.values(model.primaryKey) as RecordId[],
})

const parentOf = ({ record, model }: Match): RecordId => parseKey(record, model) as RecordId

function collect(
  records: readonly JsonObject[],
  model: Model,
  populate: readonly Populate[],
  ids: Map<string, Set<RecordId>>,
): void {
  const found = entryOf(ids, model)
  for (const record of records) found.add(record[model.primaryKey.name] as RecordId)
  for (const { association, populate: deeper } of populate) {
    const others = records.flatMap((record) => listOf(record[association.name]))
    collect(others, association.target, deeper, ids)
  }
}

function entryOf(ids: Map<string, Set<RecordId>>, { name }: Model): Set<RecordId> {
  const found = ids.get(name) ?? new Set<RecordId>()
  ids.set(name, found)
  return found
}

const listOf = (value: Json | undefined): readonly JsonObject[] =>
  value === null || value === undefined ? [] : ((Array.isArray(value) ? value : [value]) as readonly JsonObject[])
