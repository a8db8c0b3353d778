import { allHold, type Condition, hasKey, holds, oneByKey } from '../criteria/criteria.ts'
import type { Association, HasMany, ManyToMany, Model } from '../model/model.ts'
import { noSuchRecord, ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Reads } from '../storage/store.ts'
import { must } from '../support/assert.ts'
import { chain, type Maybe } from '../support/maybe.ts'
import { type FindInput, readFind } from './find-input.ts'
import { list } from './list.ts'
import type { Outcome, Parameters, ReadOperation } from './operation.ts'
import { parseKey } from './record-key.ts'
import { reserved } from './reserved.ts'
import { readShowing, type Showing, show } from './show.ts'

type PopulateInput = { readonly id: Json } & (
  | { readonly kind: 'many'; readonly find: FindInput; readonly association: HasMany | ManyToMany }
  | { readonly kind: 'one'; readonly showing: Showing; readonly child?: Json }
)

/** What an association of one record leads to: a list with all that a find can ask, one of its members, or the parent. */
export const populate: ReadOperation<PopulateInput> = {
  name: 'populate',
  effect: 'reads',
  routes: [
    { method: 'GET', path: '/:model/:record/:association', style: 'rest' },
    { method: 'GET', path: '/:model/:record/:association/:child', style: 'rest' },
  ],

  parse(given, target, context) {
    const { model } = target
    const association = must(target.association, 'a route without its association')
    const parameters = { ...given, populates: false } // what is asked for is what is embedded elsewhere
    const id = parseKey(parameters.record, model)
    if (association.kind === 'belongsTo' || parameters.child !== undefined) {
      if (association.kind === 'belongsTo') refuseCriteria(parameters, association)
      const showing = readShowing(parameters, association.target, context.limits)
      const child = parameters.child === undefined ? undefined : parseKey(parameters.child, association.target)
      return { id, kind: 'one', showing, ...(child !== undefined && { child }) }
    }
    return { id, kind: 'many', association, find: readFind(parameters, association.target, context) }
  },

  run(input, target, reads, context) {
    const association = must(target.association, 'a route without its association')
    if (input.kind === 'one') return one(input.id, input.child, input.showing, target.model, association, reads)
    const { find } = input
    const where = allHold(memberOf(input.association, target.model, input.id), find.criteria.where)
    return chain(reads.find(target.model, oneByKey(target.model, input.id)), (parents) => {
      if (parents.length === 0) throw noSuchRecord(target.model.name)
      return list({ ...find, criteria: { ...find.criteria, where } }, association.target, reads, context)
    })
  },
}

function one(
  id: Json,
  child: Json | undefined,
  showing: Showing,
  model: Model,
  association: Association,
  reads: Reads,
): Maybe<Outcome> {
  const { target } = association
  if (association.kind !== 'belongsTo') {
    const where = allHold(hasKey(target, child as Json), memberOf(association, model, id))
    return chain(reads.count(target, where), (count) => {
      if (count === 0) throw noSuchRecord(target.name)
      return show(child as Json, showing, target, reads)
    })
  }
  return chain(reads.find(model, oneByKey(model, id)), (records) => {
    if (records.length === 0) throw noSuchRecord(model.name)
    const [key] = records.values(association.foreignKey)
    if (key === null || key === undefined || (child !== undefined && child !== key)) throw noSuchRecord(target.name)
    return show(key, showing, target, reads)
  })
}

/** What is true of the members of an association of one record. */
export function memberOf(association: HasMany | ManyToMany, model: Model, id: Json): Condition {
  if (association.kind === 'hasMany') return holds(association.via, id)
  // The same pairs, seen from the other side.
  const { junction, near, far, name } = association
  const inverse: ManyToMany = { kind: 'manyToMany', name, target: model, junction, near: far, far: near }
  return { kind: 'related', association: inverse, condition: hasKey(model, id) }
}

function refuseCriteria({ query, body }: Parameters, { name }: Association): void {
  for (const parameter of [...Object.keys(query), ...Object.keys(body)]) {
    if (['select', 'omit', 'populate', 'callback', '_'].includes(parameter)) continue
    const what = reserved.has(parameter) ? `"${parameter}"` : 'a filter'
    throw new ServiceError('E_BAD_CRITERIA', `"${name}" leads to one record: ${what} means nothing here`)
  }
}
