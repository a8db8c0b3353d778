import { hasKey, oneByKey } from '../criteria/criteria.ts'
import type { Assignment } from '../model/assignment.ts'
import type { Model } from '../model/model.ts'
import { validate } from '../model/validate.ts'
import { noSuchRecord } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Reads, Records } from '../storage/store.ts'
import { chain, type Maybe } from '../support/maybe.ts'
import { checkTargets, unchecked } from './check-targets.ts'
import type { Operation } from './operation.ts'
import { requiredKey } from './record-key.ts'
import { readValues } from './values.ts'

interface UpdateInput {
  readonly id: Json
  readonly values: ReadonlyMap<string, Json>
}

/** Some attributes of one record. The others stay, whether it was asked by PUT or by PATCH. */
export const update: Operation<UpdateInput> = {
  name: 'update',
  effect: 'writes',
  routes: [
    { method: 'PATCH', path: '/:model/:record', style: 'rest' },
    { method: 'PUT', path: '/:model/:record', style: 'rest' },
    { method: 'POST', path: '/:model/:record', style: 'rest' },
    { method: 'PATCH', path: '/:model', style: 'rest' },
    { method: 'PUT', path: '/:model', style: 'rest' },
    { method: 'GET', path: '/:model/update/:record', style: 'shortcut' },
    { method: 'GET', path: '/:model/update', style: 'shortcut' },
  ],

  parse: (parameters, { model }, context) => ({
    id: requiredKey(parameters, model),
    values: readValues(parameters, model, context, { withKey: false }),
  }),

  run({ id, values }, { model }, store, context, origin) {
    const where = hasKey(model, id)
    const write = (assignments: readonly Assignment[]): Maybe<Records> => {
      const targets = unchecked(assignments, context)
      if (targets.length === 0) return store.update(model, where, assignments, { origin })
      return store.transaction(
        (transaction) => chain(checkTargets(targets, model, transaction), () => transaction.update(model, where, assignments)),
        { origin },
      )
    }
    return chain(chain(validOrMissing(id, values, model, store, context), write), (records) => {
      if (records.length === 0) throw noSuchRecord(model.name)
      return { kind: 'record', records }
    })
  },
}

/** That there is no such record is said before what is wrong with the values. */
function validOrMissing(
  id: Json,
  values: ReadonlyMap<string, Json>,
  model: Model,
  reads: Reads,
  context: Parameters<typeof validate>[3],
): Maybe<readonly Assignment[]> {
  const refuse = (error: unknown): Maybe<never> =>
    chain(reads.find(model, oneByKey(model, id)), (found) => {
      throw found.length === 0 ? noSuchRecord(model.name) : error
    })
  try {
    const assignments = validate(model, values, 'update', context)
    return assignments instanceof Promise ? assignments.catch(refuse) : assignments
  } catch (error) {
    return refuse(error)
  }
}
