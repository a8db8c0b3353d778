import { lockedByKey, oneByKey, type Populate } from '../criteria/criteria.ts'
import type { HasMany, ManyToMany, Model } from '../model/model.ts'
import { noSuchRecord, ServiceError } from '../protocol/errors.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { Records, Store, Transaction } from '../storage/store.ts'
import { must } from '../support/assert.ts'
import { chain, type Maybe } from '../support/maybe.ts'
import { embed } from './embed.ts'
import { populateWhole, readPopulate } from './find-input.ts'
import type { Asking, Context, Outcome, Parameters, Target } from './operation.ts'
import { parseKey } from './record-key.ts'
import { requireVersion } from './version.ts'

/** What every change of an association is about. */
export interface MembersInput {
  readonly parent: Json
  readonly association: HasMany | ManyToMany
  readonly populate: readonly Populate[]
}

/** Throws E_NO_SUCH_ROUTE for an association that leads to one record: there is nothing to add to. */
export function readMembersInput(parameters: Parameters, target: Target, { limits }: Context): MembersInput {
  const association = must(target.association, 'a route without its association')
  if (association.kind === 'belongsTo') {
    throw new ServiceError(
      'E_NO_SUCH_ROUTE',
      `"${association.name}" of ${target.model.name} leads to one record and has no members`,
    )
  }
  const others = readPopulate({ ...parameters, body: {} }, target.model, limits, 1)
  return {
    parent: parseKey(parameters.record, target.model),
    association,
    populate: populateWhole(others, association.name, target.model, limits),
  }
}

/** Changes the members in one transaction, and answers the parent with them. `change` may name one that must be among them. */
export function changeMembers(
  { parent, association, populate }: MembersInput,
  model: Model,
  store: Store,
  asking: Asking,
  change: (transaction: Transaction) => Maybe<Json | undefined>,
): Maybe<Outcome> {
  const changed = store.transaction(
    (transaction) =>
      chain(transaction.find(model, lockedByKey(model, parent)), (found) => {
        if (found.length === 0) throw noSuchRecord(model.name)
        return chain(requireVersion(model, parent, asking, transaction), () => change(transaction))
      }),
    asking,
  )
  return chain(changed, (child) =>
    chain(store.find(model, oneByKey(model, parent)), (stored) => {
      if (stored.length === 0) throw noSuchRecord(model.name)
      return chain(embed(stored, populate, store), (records) =>
        chain(withMember(records, child, association, store), (records) => ({
          kind: 'record',
          model,
          records,
          populate,
          stored,
          member: child,
        })),
      )
    }),
  )
}

/** The largest page of an association may not reach as far as the member that was just added; then it comes last. */
function withMember(
  records: Records,
  child: Json | undefined,
  association: HasMany | ManyToMany,
  store: Store,
): Maybe<Records> {
  const { name, target } = association
  if (child === undefined) return records
  const members = records.decode()[0]?.[name] as readonly JsonObject[]
  if (members.some((member) => member[target.primaryKey.name] === child)) return records
  return chain(store.find(target, oneByKey(target, child)), (found) => {
    const longer = [...members, ...found.decode()]
    return records.embed([{ name, decode: () => longer, encode: () => JSON.stringify(longer) }])
  })
}
