import * as v from 'valibot'
import { action, createService, file, type Json, refuse, reply } from '../../../src/index.ts'
import { SailsClient } from '../../support/sails-client.ts'

/* A shop whose actions have every form, and requests to it by HTTP, by a socket and in the same process. */

export const users: Readonly<Record<string, { readonly id: number; readonly role: string }>> = {
  ann: { id: 1, role: 'clerk' },
  bob: { id: 2, role: 'guest' },
}
const quantity = v.object({ quantity: v.pipe(v.number(), v.integer(), v.minValue(1)) })
export const openShop = async (database: string, errors: unknown[]) =>
  createService({
    database,
    onError: (error) => errors.push(error),
    limits: { maxAnswerBytes: 4000 },
    auth: {
      identify: ({ headers, query }) =>
        users[String(headers['x-user'] ?? new URLSearchParams(query).get('user'))] ?? null,
    },
    attributes: { createdAt: false, updatedAt: false },
    models: {
      product: {
        attributes: {
          name: { type: 'string', required: true, unique: true },
          stock: { type: 'number', isInteger: true, defaultsTo: 0 },
          cost: { type: 'number', access: { read: 'clerk' } },
          open: { type: 'boolean', defaultsTo: true },
          sales: { collection: 'sale', via: 'product' },
        },
        access: {
          read: ({ user }) => user?.role === 'clerk' || { open: true },
          update: ({ user }) => user?.role === 'clerk' && { name: { '!=': 'Forbidden' } },
        },
        actions: {
          take: action({
            on: 'record',
            input: quantity,
            access: ({ user }) => user !== null && { stock: { '>=': 0 } },
            run: async ({ record, input, user, tx, system }) => {
              await system.records.sale.create({ product: record.id, quantity: input.quantity, buyer: user?.id })
              if (record.stock < input.quantity)
                throw refuse(409, 'OUT_OF_STOCK', `Only ${record.stock} are left`, { left: record.stock })
              const stock = record.stock - input.quantity
              await system.records.product.update(record.id, { stock })
              return { product: await tx.product.findOne(record.id), buyer: user?.id ?? null }
            },
          }),
          rename: action({
            on: 'record',
            access: 'clerk',
            input: v.object({ name: v.string() }),
            run: ({ record, input, tx }) => tx.product.update(record.id, input),
          }),
          slowly: action({ on: 'record', access: true, transaction: false, run: ({ record }) => ({ id: record.id }) }),
          seen: action({ on: 'record', access: true, run: ({ record }) => record }),
          discard: action({
            on: 'record',
            access: 'clerk',
            run: async ({ record, system }) => void (await system.records.product.destroy(record.id)),
          }),
          import: action({
            on: 'model',
            access: 'clerk',
            input: v.array(v.object({ name: v.string() })),
            run: async ({ input, system }) => {
              for (const one of input) await system.records.product.create(one)
              return { imported: input.length }
            },
          }),
          twice: action({
            on: 'record',
            access: 'clerk',
            input: quantity,
            run: async ({ record, input, tx }) => {
              await tx.product.take(record.id, input)
              return tx.product.take(record.id, input)
            },
          }),
          hidden: action({ on: 'model', run: () => 'never' }),
          search: action({
            on: 'model',
            method: 'GET',
            access: true,
            input: v.object({ begin: v.string() }),
            run: async ({ records, input }) =>
              (await records.product.find({ where: { name: { startsWith: input.begin } }, sort: 'name' })).data,
          }),
          cheat: action({
            on: 'model',
            method: 'GET',
            access: true,
            run: ({ system }) => system.records.product.create({ name: 'by GET' }),
          }),
          csv: action({
            on: 'model',
            method: 'GET',
            access: true,
            run: ({ signal }) => file(rows(signal), { name: 'Preise für 2026.csv' }),
          }),
        },
      },
      sale: {
        attributes: { product: { model: 'product' }, quantity: { type: 'number' }, buyer: { type: 'number' } },
        access: { read: 'clerk' },
      },
      country: {
        primaryKey: 'code',
        attributes: { code: { type: 'string', required: true }, name: { type: 'string' } },
        access: 'public',
        actions: { merge: action({ on: 'model', run: () => 'merged' }) },
      },
    },
    actions: {
      echo: action({ on: 'service', access: true, input: v.looseObject({}), run: ({ input }) => input }),
      headers: action({
        on: 'service',
        access: true,
        run: ({ headers, user }) => ({ language: headers['accept-language'] ?? null, user: user?.id ?? null }),
      }),
      created: action({
        on: 'service',
        access: true,
        run: () => reply({ id: 7 }, { status: 201, headers: { location: '/sale/7' } }),
      }),
      moved: action({
        on: 'service',
        access: true,
        run: () => reply(undefined, { status: 303, headers: { Location: '/sale' } }),
      }),
      nothing: action({ on: 'service', access: true, run: () => undefined }),
      empty: action({ on: 'service', access: true, run: () => null }),
      large: action({
        on: 'service',
        access: true,
        run: async ({ system }) => {
          await system.records.product.create({ name: 'large' })
          return 'x'.repeat(5000)
        },
      }),
      broken: action({
        on: 'service',
        access: true,
        run: async ({ system }) => {
          await system.records.product.create({ name: 'broken' })
          throw new Error('secret of the action')
        },
      }),
      careless: action({
        on: 'service',
        access: true,
        run: ({ system }) => system.records.product.create({ name: 'Rex' }).catch(() => 'caught'),
      }),
      careful: action({
        on: 'service',
        access: true,
        run: ({ system }) =>
          system.records.product.create({ name: 'Rex' }).catch(() => {
            throw refuse(409, 'TAKEN', 'This name is taken')
          }),
      }),
      lying: action({
        on: 'service',
        access: true,
        result: v.object({ id: v.number() }),
        run: () => ({ id: 'x' as never }),
      }),
      notJson: action({ on: 'service', access: true, run: () => () => 1 }),
      bytes: action({
        on: 'service',
        access: true,
        run: async ({ system }) => {
          await system.records.product.create({ name: 'bytes' })
          return file(Buffer.from([1, 2, 3]), { name: 'a.bin' })
        },
      }),
      slow: action({ on: 'service', access: true, transaction: false, run: () => 'never part of a transaction' }),
      admin: action({ on: 'service', access: 'clerk', run: () => 'clerk' }),
      undeclared: action({ on: 'service', run: () => 'never' }),
    },
  })
export type Shop = Awaited<ReturnType<typeof openShop>>

async function* rows(signal: AbortSignal) {
  yield 'name;stock\n'
  if (!signal.aborted) yield 'Rex;1\n'
}

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it requested
  readonly body: any
  readonly headers: Readonly<Record<string, string>>
}

/** Sends a request and reads its answer, whatever carries it. */
export type Send = (user: string, method: 'GET' | 'POST', path: string, body?: Json) => Promise<Answer>

export const overHttp =
  (url: string): Send =>
  async (user, method, path, body) => {
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: { 'x-user': user, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    return {
      status: response.status,
      body: isJson ? JSON.parse(text) : text,
      headers: Object.fromEntries(response.headers),
    }
  }

/** A socket for each user, opened when it is first needed. */
export class Sockets implements Disposable {
  readonly #url: string
  readonly #clients = new Map<string, Promise<SailsClient>>()

  constructor(url: string) {
    this.#url = url
  }

  client(user: string): Promise<SailsClient> {
    const known = this.#clients.get(user)
    if (known) return known
    const client = SailsClient.connect(this.#url, { query: `user=${user}` })
    this.#clients.set(user, client)
    return client
  }

  readonly send: Send = async (user, method, path, body) => {
    const { statusCode, body: found, headers } = await (await this.client(user)).ask(method.toLowerCase(), path, body)
    return { status: statusCode, body: found ?? '', headers }
  };

  [Symbol.dispose](): void {
    for (const client of this.#clients.values()) void client.then((open) => open.close())
  }
}
