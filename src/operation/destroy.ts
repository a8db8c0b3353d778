import { allHold, hasKey, holds, oneByKey, type Populate } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import { noSuchRecord, ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Records, Transaction } from '../storage/store.ts'
import { chain, each, type Maybe } from '../support/maybe.ts'
import { embed } from './embed.ts'
import { readPopulate } from './find-input.ts'
import { stamps } from './membership.ts'
import type { Context, Pointer, WriteOperation } from './operation.ts'
import { requiredKey } from './record-key.ts'
import { requireVersion } from './version.ts'

/** A record goes, and with it what pointed to it; the answer is the record as it was. */
export const destroy: WriteOperation<{ readonly id: Json; readonly populate: readonly Populate[] }> = {
  name: 'destroy',
  effect: 'writes',
  routes: [
    { method: 'DELETE', path: '/:model/:record', style: 'rest' },
    { method: 'DELETE', path: '/:model', style: 'rest' },
    { method: 'GET', path: '/:model/destroy/:record', style: 'shortcut' },
    { method: 'GET', path: '/:model/destroy', style: 'shortcut' },
  ],

  parse: (parameters, { model }, { limits }) => ({
    id: requiredKey(parameters, model),
    populate: readPopulate({ ...parameters, body: {} }, model, limits, 1),
  }),

  run({ id, populate }, { model }, store, context, asking) {
    const pointers = context.pointingTo.get(model) ?? []
    const isPlain = pointers.length === 0 && populate.length === 0 && asking.versions === undefined
    const removed = isPlain
      ? store.delete(model, hasKey(model, id), asking)
      : store.transaction(
          (transaction) =>
            chain(requireVersion(model, id, asking, transaction), () =>
              remove(id, populate, pointers, model, transaction, context),
            ),
          asking,
        )
    return chain(removed, (records) => {
      if (records.length === 0) throw noSuchRecord(model.name)
      return { kind: 'record', model, records, populate }
    })
  },
}

/** What the answer embeds is read before it is let go. */
function remove(
  id: Json,
  populate: readonly Populate[],
  pointers: readonly Pointer[],
  model: Model,
  transaction: Transaction,
  context: Context,
): Maybe<Records> {
  return chain(transaction.find(model, oneByKey(model, id)), (found) =>
    chain(embed(found, populate, transaction), (answer) =>
      chain(
        each(pointers, (pointer) => letGo(pointer, id, transaction, context)),
        () => chain(transaction.delete(model, hasKey(model, id)), () => answer),
      ),
    ),
  )
}

/** A pair goes, a foreign key becomes null; one that must have a value keeps the record where it is. */
function letGo({ model, attribute }: Pointer, id: Json, transaction: Transaction, context: Context): Maybe<unknown> {
  const pointing = holds(attribute, id)
  if (model.isJunction) return transaction.delete(model, pointing)
  if (attribute.nullable)
    return transaction.update(model, pointing, [{ attribute, value: null }, ...stamps(model, context)])
  const others =
    attribute.references === model ? allHold(pointing, { kind: 'not', condition: hasKey(model, id) }) : pointing
  return chain(transaction.count(model, others), (count) => {
    if (count === 0) return
    const message = `${count} ${model.name} record${count === 1 ? '' : 's'} must have this "${attribute.name}"`
    throw new ServiceError('E_CONFLICT', message, { model: model.name, attribute: attribute.name })
  })
}
