import { hasKey, oneByKey, type Populate } from '../criteria/criteria.ts'
import type { Assignment } from '../model/assignment.ts'
import type { Model } from '../model/model.ts'
import { validate } from '../model/validate.ts'
import { noSuchRecord } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Reads, Records, Transaction } from '../storage/store.ts'
import { chain, each, type Maybe } from '../support/maybe.ts'
import { checkTargets, unchecked } from './check-targets.ts'
import { embed } from './embed.ts'
import { readPopulate } from './find-input.ts'
import { replaceMembers } from './membership.ts'
import type { Asking, Context, WriteOperation } from './operation.ts'
import { requiredKey } from './record-key.ts'
import { type RecordValues, readValues } from './record-values.ts'
import { requireVersion } from './version.ts'

export interface UpdateInput extends RecordValues {
  readonly id: Json
  readonly populate: readonly Populate[]
}

/** Some attributes of one record. The others stay, whether it was asked by PUT or by PATCH. */
export const update: WriteOperation<UpdateInput> = {
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
    ...readValues(parameters, model, context, { withKey: false }),
    populate: readPopulate({ ...parameters, body: {} }, model, context.limits, 1),
  }),

  run(input, { model }, store, context, asking) {
    const write = (assignments: readonly Assignment[]): Maybe<Records> =>
      asking.versions === undefined && input.members.length === 0 && unchecked(assignments, context).length === 0
        ? store.update(model, hasKey(model, input.id), assignments, asking)
        : store.transaction(
            (transaction) => updateWith(input, assignments, model, transaction, context, asking),
            asking,
          )
    return chain(chain(validOrMissing(input, model, store, context), write), (stored) => {
      if (stored.length === 0) throw noSuchRecord(model.name)
      return chain(embed(stored, input.populate, store), (records) => ({
        kind: 'record',
        model,
        records,
        populate: input.populate,
        stored,
      }))
    })
  },
}

function updateWith(
  { id, members }: UpdateInput,
  assignments: readonly Assignment[],
  model: Model,
  transaction: Transaction,
  context: Context,
  asking: Asking,
): Maybe<Records> {
  return chain(requireVersion(model, id, asking, transaction), () =>
    chain(checkTargets(unchecked(assignments, context), model, transaction), () =>
      chain(transaction.update(model, hasKey(model, id), assignments), (stored) => {
        if (stored.length === 0) return stored
        return chain(
          each(members, (item) => replaceMembers(item, id, transaction, context)),
          () => stored,
        )
      }),
    ),
  )
}

/** That there is no such record is said before what is wrong with the values. */
function validOrMissing(
  { id, values }: UpdateInput,
  model: Model,
  reads: Reads,
  context: Context,
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
