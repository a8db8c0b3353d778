/*
 * The types of actions: input and result follow from the schemas and from `run`. Checked by `tsc` and never run.
 */
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import { createService } from '../../index.ts'
import type { Equal, Expect } from '../inference/clinic.types.ts'
import type { RecordOf } from '../inference/record-of.ts'
import { action, actionFor } from './action.ts'

const models = {
  product: { attributes: { name: { type: 'string', required: true }, stock: { type: 'number', required: true } } },
  tag: { primaryKey: 'code', attributes: { code: { type: 'string', required: true } } },
} as const
const productAction = actionFor<typeof models, 'product'>()
const serviceAction = actionFor<typeof models>()
const userAction = actionFor<typeof models, 'product', { readonly id: number; readonly role: 'clerk' | 'admin' }>()
type Product = RecordOf<typeof models, 'product'>

const declared = {
  database: 'memory:',
  models: {
    ...models,
    product: {
      ...models.product,
      actions: {
        valibot: action({
          on: 'record',
          input: v.object({ quantity: v.optional(v.number(), 1) }),
          run: ({ input }) => input.quantity,
        }),
        zod: action({
          on: 'record',
          input: z.object({ quantity: z.coerce.number<string>() }),
          run: async ({ input }) => ({ twice: input.quantity * 2 }),
        }),
        arktype: action({ on: 'model', input: type({ names: 'string[]' }), run: ({ input }) => input.names }),
        optional: action({ on: 'model', input: v.optional(v.string()), run: ({ input }) => input ?? null }),
        none: action({ on: 'model', run: () => {} }),
        checked: action({ on: 'model', result: v.object({ id: v.number() }), run: () => ({ id: 1, more: 2 }) }),
        typed: productAction({
          on: 'record',
          run: ({ record, tx }) => tx.product.update(record.id, { stock: record.stock - 1 }),
        }),
        direct: productAction({
          on: 'record',
          transaction: false,
          run: async ({ records, record }) => (await records.tag.findOne(record.name))?.code,
        }),
        reading: productAction({
          on: 'model',
          method: 'GET',
          run: async ({ records }) => (await records.product.find()).data,
        }),
      },
    },
  },
  actions: {
    report: serviceAction({
      on: 'service',
      input: v.object({ day: v.string() }),
      run: async ({ tx, input }) => ({ day: input.day, products: await tx.product.count() }),
    }),
  },
} as const

export async function calls() {
  const { system } = await createService(declared)
  const { product } = system.records
  const tx = await system.transaction((tx) => tx.product.typed(1))
  return {
    valibot: await product.valibot(1, {}),
    zod: await product.zod(1, { quantity: '2' }),
    arktype: await product.arktype({ names: [] }),
    optional: [await product.optional(), await product.optional('x')] as const,
    none: await product.none(),
    checked: await product.checked(),
    typed: await product.typed(1),
    direct: await product.direct(1),
    reading: await product.reading(),
    report: await system.actions.report({ day: '2026-11-22' }),
    tx,
  }
}
type Calls = Awaited<ReturnType<typeof calls>>

export type Checks = [
  Expect<Equal<Calls['valibot'], number>>,
  Expect<Equal<Calls['zod'], { twice: number }>>,
  Expect<Equal<Calls['arktype'], string[]>>,
  Expect<Equal<Calls['optional'], readonly [string | null, string | null]>>,
  Expect<Equal<Calls['none'], void>>,
  Expect<Equal<Calls['checked'], { id: number }>>,
  Expect<Equal<Calls['typed'], Product>>,
  Expect<Equal<Calls['direct'], string | undefined>>,
  Expect<Equal<Calls['reading'], Product[]>>,
  Expect<Equal<Calls['report'], { day: string; products: number }>>,
  Expect<Equal<Calls['tx'], Product>>,
]

export async function mistakes() {
  const { system } = await createService(declared)
  const { product } = system.records
  // @ts-expect-error the quantity is a number
  await product.valibot(1, { quantity: 'x' })
  // @ts-expect-error the input is missing
  await product.zod(1)
  // @ts-expect-error the id is a number
  await product.valibot('1', {})
  // @ts-expect-error it takes no input
  await product.none({})
  // @ts-expect-error there is no such action
  await product.fly(1)
  // @ts-expect-error the day is missing
  await system.actions.report({})
  // @ts-expect-error an action by GET has no transaction
  productAction({ on: 'model', method: 'GET', run: ({ tx }) => tx })
  // @ts-expect-error an action on a model has no record
  productAction({ on: 'model', run: ({ record }) => record })
  // @ts-expect-error there is no such attribute
  productAction({ on: 'record', run: ({ record }) => record.price })
  // @ts-expect-error there is no such subject
  action({ on: 'pet', run: () => 1 })
}

export const ofUser = userAction({
  on: 'record',
  access: ({ user }) => user?.role === 'clerk',
  // @ts-expect-error the user may be null
  run: ({ user }) => user.id,
})
export const ofRole = userAction({ on: 'record', access: 'admin', run: ({ user }): number | undefined => user?.id })
// @ts-expect-error no user has this role
export const ofOtherRole = userAction({ on: 'record', access: 'boss', run: () => 1 })
// @ts-expect-error no user has this attribute
export const ofOtherUser = userAction({ on: 'model', run: ({ user }) => user?.name })
