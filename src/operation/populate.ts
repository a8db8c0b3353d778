import { and, type Condition, eq, findByPrimaryKey, findKey, primaryKeyEquals } from '../criteria/criteria.ts'
import type { Association, HasMany, ManyToMany, Model } from '../model/model.ts'
import { noSuchRecord, ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { ScopedReads } from '../storage/scoped-store.ts'
import type { ReadOptions } from '../storage/store.ts'
import { assertDefined } from '../support/assert.ts'
import { andThen, type MaybePromise } from '../support/maybe-promise.ts'
import { fetchOne, type RecordProjection, readProjection } from './fetch-one.ts'
import { type FindInput, readFind } from './find-input.ts'
import { list } from './list.ts'
import type { OperationServices, ParameterValues, ReadOperation, RecordResult, RecordsResult } from './operation.ts'
import { listParameters, namesOf, projectionParameters, reserved, transportParameters } from './parameters.ts'
import { existingKey } from './record-key.ts'
import { memberSubscriptions } from './subscriptions.ts'

type PopulateInput = { readonly id: Json } & (
  | { readonly kind: 'many'; readonly find: FindInput; readonly association: HasMany | ManyToMany }
  | { readonly kind: 'one'; readonly projection: RecordProjection; readonly child?: Json }
)

/** The other side of an association of one record: a list with all that a find takes, one of its members, or the one record a to-one leads to. */
export const populate: ReadOperation<PopulateInput, RecordResult | RecordsResult> = {
  name: 'populate',
  effect: 'reads',
  action: 'read',
  routes: [
    { method: 'GET', path: '/:model/:record/:association', style: 'rest' },
    { method: 'GET', path: '/:model/:record/:association', style: 'shortcut' },
    { method: 'GET', path: '/:model/:record/:association/:child', style: 'rest' },
  ],
  parameters: listParameters,

  parse(given, target, services) {
    const { model } = target
    const association = assertDefined(target.association, 'a route without its association')
    // The records here are those that are embedded elsewhere: nothing is embedded in them unless asked for.
    const parameters = { ...given, populates: false }
    const id = existingKey(parameters.record, model)
    if (association.kind !== 'belongsTo' && parameters.child === undefined)
      return { id, kind: 'many', association, find: readFind(parameters, association.target, services) }
    if (association.kind === 'belongsTo') refuseCriteria(parameters, association)
    const projection = readProjection(parameters, association.target, services.limits)
    const child = parameters.child === undefined ? undefined : existingKey(parameters.child, association.target)
    return { id, kind: 'one', projection, ...(child !== undefined && { child }) }
  },

  run({ input, target: { model, association: named }, client }, reads, services) {
    const association = assertDefined(named, 'a route without its association')
    if (input.kind === 'one') return one(input, model, association, reads, client, services)
    const { find } = input
    const where = and(memberOf(input.association, model, input.id), find.criteria.where)
    return andThen(reads.find(model, findKey(model, input.id)), (parents) => {
      if (parents.length === 0) throw noSuchRecord(model.name)
      return list({ ...find, criteria: { ...find.criteria, where } }, association.target, reads, services, client)
    })
  },

  subscriptions: (result, { input, target }) => memberSubscriptions(result, target.model, input.id),
}

function one(
  { id, child, projection }: PopulateInput & { readonly kind: 'one' },
  model: Model,
  association: Association,
  reads: ScopedReads,
  client: ReadOptions | undefined,
  services: OperationServices,
): MaybePromise<RecordResult> {
  const { target } = association
  const fetch = (key: Json) =>
    fetchOne({ input: { id: key, ...projection }, target: { model: target }, client }, reads, services)
  if (association.kind !== 'belongsTo') {
    const where = and(primaryKeyEquals(target, child as Json), memberOf(association, model, id))
    return andThen(reads.count(target, where), (count) => {
      if (count === 0) throw noSuchRecord(target.name)
      return fetch(child as Json)
    })
  }
  return andThen(reads.find(model, findByPrimaryKey(model, id)), (records) => {
    if (records.length === 0) throw noSuchRecord(model.name)
    const [key] = records.values(association.foreignKey)
    if (key === null || key === undefined || (child !== undefined && child !== key)) throw noSuchRecord(target.name)
    return fetch(key)
  })
}

/** The condition that holds for the members of an association of one record. */
export function memberOf(association: HasMany | ManyToMany, model: Model, id: Json): Condition {
  if (association.kind === 'hasMany') return eq(association.via, id)
  // The same junction rows, from the other side.
  const { junction, near, far, name } = association
  const inverse: ManyToMany = { kind: 'manyToMany', name, target: model, junction, near: far, far: near }
  return { kind: 'related', association: inverse, condition: primaryKeyEquals(model, id) }
}

const allowedForOne = namesOf([...projectionParameters, ...transportParameters])

function refuseCriteria({ query, body }: ParameterValues, { name }: Association): void {
  for (const parameter of [...Object.keys(query), ...Object.keys(body)]) {
    if (allowedForOne.has(parameter)) continue
    const what = reserved.has(parameter) ? `"${parameter}"` : 'a filter'
    throw new ServiceError('E_BAD_CRITERIA', `"${name}" leads to one record: ${what} has no meaning here`)
  }
}
