import { actionFor, refuse, reply } from 'keelson'
import * as v from 'valibot'
import type { Models } from './models.ts'
import type { OrderUser } from './users.ts'

const action = actionFor<Models, 'order', OrderUser>()
const count = v.pipe(v.number(), v.integer(), v.minValue(1))

/** POST /order/place: takes every item from the stock and creates the order, or does nothing at all. */
export const place = action({
  on: 'model',
  access: 'customer',
  input: v.object({
    items: v.pipe(v.array(v.object({ product: count, quantity: count })), v.minLength(1), v.maxLength(50)),
  }),
  run: async ({ input, user, system }) => {
    // The system may run every action, and has no user.
    if (user === null) throw refuse(400, 'NO_CUSTOMER', 'An order needs a customer')
    const { product, order, item } = system.records
    const bought = []
    for (const { product: id, quantity } of input.items) {
      const found = await product.findOne(id)
      if (!found) throw refuse(404, 'NO_SUCH_PRODUCT', `There is no product ${id}`, { product: id })
      if (found.stock < quantity)
        throw refuse(409, 'OUT_OF_STOCK', `${found.name}: only ${found.stock} left`, { product: id, left: found.stock })
      await product.update(id, { stock: found.stock - quantity })
      bought.push({ product: id, quantity, price: found.price })
    }
    const total = bought.reduce((sum, { quantity, price }) => sum + quantity * price, 0)
    const placed = await order.create({ customer: user.id, total })
    for (const values of bought) await item.create({ ...values, order: placed.id })
    return reply(placed, { status: 201, headers: { Location: `/order/${placed.id}` } })
  },
})

/** POST /order/7/cancel: puts the items back. The record is one that the user may read: its own, or any for staff. */
export const cancel = action({
  on: 'record',
  access: ({ user }) => user !== null,
  run: async ({ record, system }) => {
    if (record.state === 'cancelled') throw refuse(409, 'ALREADY_CANCELLED', 'This order is cancelled already')
    const { product, order, item } = system.records
    const { data: items } = await item.find({ where: { order: record.id }, limit: 50 })
    for (const { product: id, quantity } of items) {
      const found = await product.findOne(id)
      if (found) await product.update(id, { stock: found.stock + quantity })
    }
    return order.update(record.id, { state: 'cancelled' })
  },
})
