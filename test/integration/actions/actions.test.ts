import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { HttpServer, Json } from '../../../src/index.ts'
import { databases, type TestDatabase } from '../../support/databases.ts'
import { type Answer, openShop, overHttp, type Send, type Shop, Sockets } from './shop.ts'

/* What actions answer and change, over every database and transport: one case a row. */

interface Case {
  readonly what: string
  readonly user?: string
  readonly method?: 'GET' | 'POST'
  readonly path: string
  readonly body?: Json
  readonly status: number
  /** Members of the answer. */
  readonly answers?: Json
  readonly code?: string
  /** The products afterwards, where they changed. */
  readonly stock?: Readonly<Record<string, number>>
  /** Of the sales afterwards; by default none. */
  readonly sales?: number
  /** Only where the transport can carry it. */
  readonly only?: 'http' | 'socket'
  /** Reported to the log. */
  readonly reports?: RegExp
}

const before2 = { Rex: 5, Secret: 1 }
const cases: readonly Case[] = [
  {
    what: 'an action on a record runs in a transaction and sees its own writes',
    path: '/product/1/take',
    body: { quantity: 2 },
    status: 200,
    answers: { product: { id: 1, name: 'Rex', stock: 3, open: true }, buyer: 2 },
    stock: { Rex: 3, Secret: 1 },
    sales: 1,
  },
  {
    what: 'a refusal has its status, code and details, and rolls back',
    path: '/product/1/take',
    body: { quantity: 6 },
    status: 409,
    code: 'OUT_OF_STOCK',
    answers: { detail: 'Only 5 are left', details: { left: 5 } },
  },
  {
    what: 'letter case of the name does not matter',
    user: 'ann',
    path: '/product/1/RENAME',
    body: { name: 'Max' },
    status: 200,
    stock: { Max: 5, Secret: 1 },
  },
  {
    what: 'invalid input names its path',
    path: '/product/1/take',
    body: { quantity: 'x' },
    status: 400,
    code: 'E_INVALID_ATTRIBUTES',
    answers: { attrNames: ['quantity'] },
  },
  { what: 'missing input is invalid', path: '/product/1/take', status: 400, code: 'E_INVALID_ATTRIBUTES' },
  {
    what: 'a missing record comes before invalid input',
    path: '/product/9/take',
    body: { quantity: 'x' },
    status: 404,
    code: 'E_NO_SUCH_RECORD',
  },
  {
    what: 'an id of another form is a missing record',
    path: '/product/abc/take',
    body: { quantity: 1 },
    status: 404,
    code: 'E_NO_SUCH_RECORD',
  },
  {
    what: 'a record that the requester may not read is missing',
    path: '/product/2/take',
    body: { quantity: 1 },
    status: 404,
    code: 'E_NO_SUCH_RECORD',
  },
  {
    what: 'the record shows what the requester may read',
    path: '/product/1/seen',
    status: 200,
    answers: { id: 1, name: 'Rex', stock: 5, open: true },
  },
  { what: 'and more to another', user: 'ann', path: '/product/1/seen', status: 200, answers: { cost: 3 } },
  {
    what: 'an action that takes no input refuses one',
    path: '/product/1/seen',
    body: { a: 1 },
    status: 400,
    code: 'E_BAD_REQUEST',
  },
  {
    what: 'rules of the action come before everything',
    user: 'none',
    path: '/product/9/take',
    body: { quantity: 'x' },
    status: 403,
    code: 'E_FORBIDDEN',
  },
  { what: 'a role is needed', path: '/product/1/rename', body: { name: 'x' }, status: 403, code: 'E_FORBIDDEN' },
  {
    what: 'the rules of the model hold within the action',
    user: 'ann',
    path: '/product/1/rename',
    body: { name: 'Forbidden' },
    status: 403,
    code: 'E_FORBIDDEN',
  },
  {
    what: 'undeclared access is refused where rules are declared',
    user: 'ann',
    path: '/product/hidden',
    status: 403,
    code: 'E_FORBIDDEN',
  },
  { what: 'and for an action of the service', user: 'ann', path: '/undeclared', status: 403, code: 'E_FORBIDDEN' },
  { what: 'undeclared access is open in a public model', path: '/country/merge', status: 200, answers: 'merged' },
  {
    what: 'an action without a result answers 204',
    user: 'ann',
    path: '/product/1/discard',
    status: 204,
    stock: { Secret: 1 },
  },
  {
    what: 'an action on a model takes a list',
    user: 'ann',
    path: '/product/import',
    body: [{ name: 'A' }, { name: 'B' }],
    status: 200,
    answers: { imported: 2 },
    stock: { ...before2, A: 0, B: 0 },
  },
  {
    what: 'a write that fails on behalf of the system is an internal error, and fails the whole',
    user: 'ann',
    path: '/product/import',
    body: [{ name: 'A' }, { name: 'Rex' }],
    status: 500,
    code: 'E_INTERNAL',
    reports: /must be unique/,
  },
  {
    what: 'and so it is when the action catches it',
    path: '/careless',
    status: 500,
    code: 'E_INTERNAL',
    answers: { detail: 'Internal server error' },
    reports: /must be unique/,
  },
  {
    what: 'unless the action refuses',
    path: '/careful',
    status: 409,
    code: 'TAKEN',
  },
  {
    what: 'an action runs another in its transaction',
    user: 'ann',
    path: '/product/1/twice',
    body: { quantity: 2 },
    status: 200,
    stock: { Rex: 1, Secret: 1 },
    sales: 2,
  },
  {
    what: 'and fails with it',
    user: 'ann',
    path: '/product/1/twice',
    body: { quantity: 3 },
    status: 409,
    code: 'OUT_OF_STOCK',
  },
  {
    what: 'by GET the input is the query string',
    method: 'GET',
    path: '/product/search?begin=R&_=1',
    status: 200,
    answers: [{ id: 1, name: 'Rex', stock: 5, open: true }],
  },
  { what: 'by GET the rules hold', method: 'GET', path: '/product/search?begin=S', status: 200, answers: [] },
  {
    what: 'by GET nothing is written',
    method: 'GET',
    path: '/product/cheat',
    status: 500,
    code: 'E_INTERNAL',
    reports: /only reads/,
  },
  {
    what: 'another method is not allowed',
    method: 'GET',
    path: '/product/import',
    status: 405,
    code: 'E_METHOD_NOT_ALLOWED',
  },
  {
    what: 'an action of the service',
    path: '/echo',
    body: { a: [1, { b: null }] },
    status: 200,
    answers: { a: [1, { b: null }] },
  },
  {
    what: 'names that objects inherit are values',
    path: '/echo',
    body: { hasOwnProperty: '1', toString: 2 },
    status: 200,
    answers: { hasOwnProperty: '1', toString: 2 },
  },
  {
    what: 'the body comes before the query string',
    path: '/echo?a=1&b=2',
    body: { a: 3 },
    status: 200,
    answers: { a: 3, b: '2' },
  },
  { what: 'a scalar is no body', path: '/echo', body: 7, status: 400, code: 'E_BAD_BODY', only: 'http' },
  {
    what: 'a list where an object is expected',
    path: '/product/1/take',
    body: [1],
    status: 400,
    code: 'E_INVALID_ATTRIBUTES',
  },
  { what: 'a status and headers of its own', path: '/created', status: 201, answers: { id: 7 } },
  { what: 'a redirect', path: '/moved', status: 303 },
  { what: 'null is a result', path: '/empty', status: 200, answers: null },
  { what: 'undefined is none', path: '/nothing', status: 204 },
  {
    what: 'a result above the limit rolls back',
    path: '/large',
    status: 400,
    code: 'E_BAD_REQUEST',
    answers: { limit: 'maxAnswerBytes' },
  },
  {
    what: 'an error of the action is not shown',
    path: '/broken',
    status: 500,
    code: 'E_INTERNAL',
    answers: { detail: 'Internal server error' },
    reports: /secret of the action/,
  },
  {
    what: 'a result that its schema refuses is an error of the action',
    path: '/lying',
    status: 500,
    code: 'E_INTERNAL',
    reports: /not what its schema declares/,
  },
  {
    what: 'a result that is not JSON is an error of the action',
    path: '/notJson',
    status: 500,
    code: 'E_INTERNAL',
    reports: /is not JSON/,
  },
  { what: 'a file', path: '/bytes', status: 200, stock: { ...before2, bytes: 0 }, only: 'http' },
  {
    what: 'a file over a socket is refused and rolls back',
    path: '/bytes',
    status: 400,
    code: 'E_BAD_REQUEST',
    only: 'socket',
  },
  { what: 'an action outside of a transaction', path: '/slow', status: 200, answers: 'never part of a transaction' },
  { what: 'nothing follows the name', path: '/echo/1', status: 404, code: 'E_NO_SUCH_ROUTE' },
  { what: 'a name that is no action', path: '/product/1/fly', status: 404, code: 'E_NO_SUCH_ROUTE' },
]

for (const kind of databases) {
  describe(`actions over ${kind.name}`, { skip: kind.missing ?? false }, () => {
    let database: TestDatabase
    let shop: Shop
    let server: HttpServer
    let sockets: Sockets
    const errors: unknown[] = []
    before(async () => {
      database = await kind.open()
      shop = await openShop(database.url, errors)
      server = await shop.listen(0)
      sockets = new Sockets(server.url)
    })
    after(async () => {
      sockets[Symbol.dispose]()
      await server.stop()
      await shop.close()
      await database[Symbol.asyncDispose]()
    })
    beforeEach(async () => {
      errors.length = 0
      const { product, sale } = shop.system.records
      for (const { id } of (await sale.find({ limit: 1000 })).data) await sale.destroy(id)
      for (const { id } of (await product.find({ limit: 1000 })).data) await product.destroy(id)
      await product.create({ id: 1, name: 'Rex', stock: 5, cost: 3 })
      await product.create({ id: 2, name: 'Secret', stock: 1, open: false })
    })

    const check = async (send: Send, test: Case) => {
      const answer = await send(test.user ?? 'bob', test.method ?? 'POST', test.path, test.body)
      assert.equal(answer.status, test.status, JSON.stringify(answer.body))
      if (test.code !== undefined) assert.equal(answer.body.code, test.code)
      if (test.answers !== undefined) assertContains(answer, test.answers)
      const { product, sale } = shop.system.records
      const products = (await product.find({ sort: 'id' })).data.map(({ name, stock }) => [name, stock])
      assert.deepEqual(Object.fromEntries(products), test.stock ?? before2)
      assert.equal(await sale.count(), test.sales ?? 0)
      assert.equal(errors.length, test.reports ? 1 : 0, String(errors[0]))
      if (test.reports) assert.match(String(errors[0]), test.reports)
    }
    for (const item of cases) {
      for (const transport of ['http', 'socket'] as const) {
        if (item.only !== undefined && item.only !== transport) continue
        test(`${transport}: ${item.what}`, () =>
          check(transport === 'http' ? overHttp(server.url) : sockets.send, item))
      }
    }

    test('concurrent actions on one record never take more than there is', async () => {
      const send = overHttp(server.url)
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => send('bob', 'POST', '/product/1/take', { quantity: 1 })),
      )
      const taken = answers.filter(({ status }) => status === 200).length
      assert.ok(
        answers.every(({ status }) => status === 200 || status === 409 || status === 503),
        JSON.stringify(answers),
      )
      const { product, sale } = shop.system.records
      assert.equal((await product.findOne(1))?.stock, 5 - taken)
      assert.equal(await sale.count(), taken)
    })

    const step = (url: string, body?: Json, method = 'POST') => ({ method, url, ...(body !== undefined && { body }) })
    const batches: readonly (readonly [
      what: string,
      user: string,
      steps: readonly Json[],
      status: number,
      statuses: readonly number[],
      stock: object,
    ])[] = [
      [
        'actions are one transaction',
        'ann',
        [step('/product/1/take', { quantity: 1 }), step('/product/2/take', { quantity: 1 })],
        200,
        [200, 200],
        { Rex: 4, Secret: 0 },
      ],
      [
        'one that is refused rolls the others back',
        'ann',
        [step('/product/1/take', { quantity: 1 }), step('/product/2/take', { quantity: 2 })],
        409,
        [424, 409],
        before2,
      ],
      [
        'input refers to an earlier answer',
        'ann',
        [step('/product/1/seen'), step('/product/2/rename', { name: { $ref: '0.name' } })],
        400,
        [424, 400],
        before2,
      ],
      [
        'an address refers to an earlier answer',
        'ann',
        [step('/product/2/take', { quantity: 1 }), step('/product/$0.product.id/rename', { name: 'Max' })],
        200,
        [200, 200],
        { Rex: 5, Max: 0 },
      ],
      [
        'an action by GET sees the transaction',
        'ann',
        [step('/product/1/rename', { name: 'Max' }), step('/product/search?begin=Max', undefined, 'GET')],
        200,
        [200, 200],
        { Max: 5, Secret: 1 },
      ],
      [
        'actions by GET alone',
        'bob',
        [step('/product/search?begin=R', undefined, 'GET'), step('/product/1', undefined, 'GET')],
        200,
        [200, 200],
        before2,
      ],
      [
        'an action without a transaction is refused',
        'bob',
        [step('/product/1/take', { quantity: 1 }), step('/slow')],
        400,
        [424, 400],
        before2,
      ],
      [
        'a file is refused',
        'bob',
        [step('/product/1/take', { quantity: 1 }), step('/bytes')],
        400,
        [424, 400],
        before2,
      ],
      [
        'rules hold',
        'bob',
        [step('/product/1/take', { quantity: 1 }), step('/product/1/rename', { name: 'x' })],
        403,
        [424, 403],
        before2,
      ],
    ]
    for (const [what, user, steps, status, statuses, stock] of batches) {
      for (const transport of ['http', 'socket'] as const) {
        test(`in a batch over ${transport}: ${what}`, async () => {
          const send = transport === 'http' ? overHttp(server.url) : sockets.send
          const { status: found, body } = await send(user, 'POST', '/batch', steps)
          assert.equal(found, status, JSON.stringify(body))
          assert.deepEqual(
            (body as readonly Answer[]).map(({ status }) => status),
            statuses,
          )
          const products = (await shop.system.records.product.find({ sort: 'id' })).data
          assert.deepEqual(Object.fromEntries(products.map(({ name, stock }) => [name, stock])), stock)
          assert.deepEqual(errors, [])
        })
      }
    }

    test('If-Match is compared with the version of the record', async () => {
      const take = async (version: string, path = '/product/1/take') => {
        const headers = { 'x-user': 'ann', 'Content-Type': 'application/json', 'If-Match': version }
        const response = await fetch(server.url + path, {
          method: 'POST',
          headers,
          body: path.endsWith('take') ? '{"quantity":1}' : '{}',
        })
        return response.status
      }
      const read = await fetch(`${server.url}/product/1`, { headers: { 'x-user': 'ann' } })
      const version = read.headers.get('etag') ?? ''
      assert.equal(await take('"AAAAAAAAAAAAAAAAAAAAAA-AAAAAAAAAAAAAAAAAAAAAA"'), 412)
      assert.equal(await take(version), 200)
      assert.equal(await take(version), 412)
      assert.equal(await take(version, '/product/1/slowly'), 400)
      assert.equal((await shop.system.records.product.findOne(1))?.stock, 4)
    })

    test('an action that is repeated with its Idempotency-Key runs once', async () => {
      const take = async (key: string, path = '/product/1/take') => {
        const response = await fetch(server.url + path, {
          method: 'POST',
          headers: { 'x-user': 'ann', 'Content-Type': 'application/json', 'Idempotency-Key': key },
          body: path.endsWith('take') ? '{"quantity":1}' : '{}',
        })
        return [response.status, response.headers.get('idempotency-replayed'), await response.text()]
      }
      const key = crypto.randomUUID()
      const [status, replayed, text] = await take(key)
      assert.deepEqual([status, replayed], [200, null])
      assert.deepEqual(await take(key), [200, 'true', text])
      const { product, sale } = shop.system.records
      assert.equal((await product.findOne(1))?.stock, 4)
      assert.equal(await sale.count(), 1)
      for (const path of ['/bytes', '/slow']) {
        const [refused, , problem] = await take(crypto.randomUUID(), path)
        assert.equal(refused, 400, `${problem}`)
      }
      assert.deepEqual(errors, [])
    })

    test('a socket that listens receives what an action of another client changed, as one of its own writes', async () => {
      const ann = await sockets.client('ann')
      assert.equal((await ann.ask('get', '/product/1')).statusCode, 200)
      await sockets.send('bob', 'POST', '/product/1/take', { quantity: 1 })
      await ann.until((name, payload) => name === 'product' && payload.verb === 'updated' && payload.data?.stock === 4)
      await sockets.send('ann', 'POST', '/product/1/rename', { name: 'Max' })
      await ann.until(
        (name, payload) => name === 'product' && payload.verb === 'updated' && payload.data?.name === 'Max',
      )
    })
  })
}

/** The members that are expected, and others. */
function assertContains({ body }: Answer, expected: Json): void {
  const isPartial = typeof expected === 'object' && expected !== null && !Array.isArray(expected)
  if (!isPartial) assert.deepEqual(body === '' ? null : body, expected)
  else for (const [name, value] of Object.entries(expected)) assert.deepEqual(body[name], value, name)
}
