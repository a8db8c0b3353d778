import type { Assignment } from '../model/assignment.ts'
import type { Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { Records, Transaction } from '../storage/store.ts'
import { chain, each, type Maybe } from '../support/maybe.ts'
import { checkTargets, unchecked } from './check-targets.ts'
import { replaceMembers } from './membership.ts'
import type { Context } from './operation.ts'
import type { Members } from './record-values.ts'

/** Inserts a record, its members with it, after what the database does not check was checked. */
export function insertWith(
  assignments: readonly Assignment[],
  members: readonly Members[],
  model: Model,
  transaction: Transaction,
  context: Context,
): Maybe<Records> {
  return chain(checkTargets(unchecked(assignments, context), model, transaction), () =>
    chain(transaction.insert(model, assignments), (stored) => {
      const [id] = stored.values(model.primaryKey) as [Json]
      return chain(
        each(members, (item) => replaceMembers(item, id, transaction, context)),
        () => stored,
      )
    }),
  )
}
