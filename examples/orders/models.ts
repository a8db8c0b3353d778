import type { ModelDefinitions } from 'keelson'
import type { OrderUser } from './users.ts'

export interface Requester {
  readonly user: OrderUser | null
}
const isStaff = (user: OrderUser | null): boolean => user?.role === 'staff'
/** Customers read what is theirs. */
const own = ({ user }: Requester) => isStaff(user) || (user !== null && { customer: user.id })

/** What is stored, and what each user may do with it directly. Orders are written by actions only. */
export const models = {
  customer: {
    attributes: {
      name: { type: 'string', required: true },
      email: { type: 'string', isEmail: true, required: true },
      orders: { collection: 'order', via: 'customer' },
    },
    access: { read: ({ user }: Requester) => isStaff(user) || (user !== null && { id: user.id }) },
  },
  product: {
    attributes: {
      name: { type: 'string', required: true, unique: true },
      price: { type: 'number', required: true, min: 0 },
      stock: { type: 'number', isInteger: true, required: true, min: 0 },
    },
    access: { read: true, create: 'staff', update: 'staff' },
  },
  order: {
    attributes: {
      customer: { model: 'customer', required: true },
      state: { type: 'string', isIn: ['placed', 'cancelled'], defaultsTo: 'placed' },
      total: { type: 'number', required: true },
      items: { collection: 'item', via: 'order' },
    },
    access: { read: own },
  },
  item: {
    attributes: {
      order: { model: 'order', required: true },
      product: { model: 'product', required: true },
      quantity: { type: 'number', isInteger: true, required: true },
      price: { type: 'number', required: true },
    },
    access: { read: ({ user }: Requester) => isStaff(user) || (user !== null && { order: { customer: user.id } }) },
  },
  audit: {
    attributes: {
      user: { type: 'string' },
      record: { type: 'string', required: true },
      before: { type: 'json' },
      after: { type: 'json' },
    },
    access: { read: 'staff' },
  },
  report: {
    primaryKey: 'day',
    attributes: {
      day: { type: 'string', required: true },
      orders: { type: 'number', required: true },
      revenue: { type: 'number', required: true },
    },
    access: { read: 'staff' },
  },
} as const satisfies ModelDefinitions
export type Models = typeof models
