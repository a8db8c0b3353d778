import { type Condition, hasKey } from '../criteria/criteria.ts'
import { equals } from '../criteria/modifiers/equals.ts'
import type { Assignment } from '../model/assignment.ts'
import { stampOf } from '../model/stamp.ts'
import { noSuchRecord, ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Records, Transaction } from '../storage/store.ts'
import { chain, each, type Maybe } from '../support/maybe.ts'
import type { Context, Operation, Pointer } from './operation.ts'
import { requiredKey } from './record-key.ts'

/** A record goes, and with it what pointed to it; the answer is the record as it was. */
export const destroy: Operation<Json> = {
  name: 'destroy',
  effect: 'writes',
  routes: [
    { method: 'DELETE', path: '/:model/:record', style: 'rest' },
    { method: 'DELETE', path: '/:model', style: 'rest' },
    { method: 'GET', path: '/:model/destroy/:record', style: 'shortcut' },
    { method: 'GET', path: '/:model/destroy', style: 'shortcut' },
  ],

  parse: (parameters, { model }) => requiredKey(parameters, model),

  run(id, { model }, store, context, origin) {
    const where = hasKey(model, id)
    const pointers = context.pointingTo.get(model) ?? []
    const remove = (transaction: Transaction): Maybe<Records> =>
      chain(each(pointers, (pointer) => letGo(pointer, id, transaction, context)), () => transaction.delete(model, where))
    const removed =
      pointers.length === 0 ? store.delete(model, where, { origin }) : store.transaction(remove, { origin })
    return chain(removed, (records) => {
      if (records.length === 0) throw noSuchRecord(model.name)
      return { kind: 'record', records }
    })
  },
}

/** A pair goes, a foreign key becomes null; one that must have a value keeps the record where it is. */
function letGo({ model, attribute }: Pointer, id: Json, transaction: Transaction, { clock }: Context): Maybe<unknown> {
  const pointing: Condition = { kind: 'compare', attribute, modifier: equals, operand: id }
  if (model.isJunction) return transaction.delete(model, pointing)
  if (attribute.nullable) {
    const stamps = [...model.attributes.values()]
      .filter((attribute) => attribute.autoUpdatedAt)
      .map((attribute): Assignment => ({ attribute, value: stampOf(attribute, clock.now()) }))
    return transaction.update(model, pointing, [{ attribute, value: null }, ...stamps])
  }
  const others: Condition =
    attribute.references === model ? { kind: 'and', conditions: [pointing, { kind: 'not', condition: hasKey(model, id) }] } : pointing
  return chain(transaction.count(model, others), (count) => {
    if (count === 0) return
    const message = `${count} ${model.name} record${count === 1 ? '' : 's'} must have this "${attribute.name}"`
    throw new ServiceError('E_CONFLICT', message, { model: model.name, attribute: attribute.name })
  })
}
