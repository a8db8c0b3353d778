import type { Populate } from '../criteria/criteria.ts'
import type { Assignment } from '../model/assignment.ts'
import { validate } from '../model/validate.ts'
import type { Records } from '../storage/store.ts'
import { chain, type Maybe } from '../support/maybe.ts'
import { unchecked } from './check-targets.ts'
import { embed } from './embed.ts'
import { readPopulate } from './find-input.ts'
import { insertWith } from './insert-with.ts'
import type { WriteOperation } from './operation.ts'
import { type RecordValues, readValues } from './record-values.ts'

/** A new record, and its members where some are given. */
export const create: WriteOperation<RecordValues & { readonly populate: readonly Populate[] }> = {
  name: 'create',
  effect: 'writes',
  routes: [
    { method: 'POST', path: '/:model', style: 'rest' },
    { method: 'GET', path: '/:model/create', style: 'shortcut' },
  ],

  parse: (parameters, { model }, context) => ({
    ...readValues(parameters, model, context, { withKey: true }),
    populate: readPopulate({ ...parameters, body: {} }, model, context.limits, 1),
  }),

  run({ values, members, populate }, { model }, store, context, asking) {
    const write = (assignments: readonly Assignment[]): Maybe<Records> =>
      members.length === 0 && unchecked(assignments, context).length === 0
        ? store.insert(model, assignments, asking)
        : store.transaction((transaction) => insertWith(assignments, members, model, transaction, context), asking)
    return chain(chain(validate(model, values, 'create', context), write), (stored) =>
      chain(embed(stored, populate, store), (records) => ({ kind: 'created', model, records, populate, stored })),
    )
  },
}
