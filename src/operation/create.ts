import type { Assignment } from '../model/assignment.ts'
import { validate } from '../model/validate.ts'
import type { Json } from '../protocol/json.ts'
import type { Records } from '../storage/store.ts'
import { chain, type Maybe } from '../support/maybe.ts'
import { checkTargets, unchecked } from './check-targets.ts'
import type { Operation } from './operation.ts'
import { readValues } from './values.ts'

/** A new record. */
export const create: Operation<ReadonlyMap<string, Json>> = {
  name: 'create',
  effect: 'writes',
  routes: [
    { method: 'POST', path: '/:model', style: 'rest' },
    { method: 'GET', path: '/:model/create', style: 'shortcut' },
  ],

  parse: (parameters, { model }, context) => readValues(parameters, model, context, { withKey: true }),

  run(values, { model }, store, context, origin) {
    const insert = (assignments: readonly Assignment[]): Maybe<Records> => {
      const targets = unchecked(assignments, context)
      if (targets.length === 0) return store.insert(model, assignments, { origin })
      return store.transaction(
        (transaction) => chain(checkTargets(targets, model, transaction), () => transaction.insert(model, assignments)),
        { origin },
      )
    }
    return chain(chain(validate(model, values, 'create', context), insert), (records) => ({ kind: 'created', records }))
  },
}
