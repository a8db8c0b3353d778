import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../../src/index.ts'
import { databases } from '../../support/databases.ts'
import { initialStock, ServedShop, transports } from './served-shop.ts'
import type { Answer } from './shop.ts'

/* Actions beside and within other requests: batches, concurrent and repeated requests, versions and events. */

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
    initialStock,
  ],
  [
    'input refers to an earlier answer',
    'ann',
    [step('/product/1/seen'), step('/product/2/rename', { name: { $ref: '0.name' } })],
    400,
    [424, 400],
    initialStock,
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
    initialStock,
  ],
  [
    'an action without a transaction is refused',
    'bob',
    [step('/product/1/take', { quantity: 1 }), step('/slow')],
    400,
    [424, 400],
    initialStock,
  ],
  [
    'a file is refused',
    'bob',
    [step('/product/1/take', { quantity: 1 }), step('/bytes')],
    400,
    [424, 400],
    initialStock,
  ],
  [
    'rules hold',
    'bob',
    [step('/product/1/take', { quantity: 1 }), step('/product/1/rename', { name: 'x' })],
    403,
    [424, 403],
    initialStock,
  ],
]
for (const kind of databases) {
  describe(`actions over ${kind.name}`, { skip: kind.missing ?? false }, () => {
    const served = new ServedShop(kind)

    for (const [what, user, steps, status, statuses, stock] of batches) {
      for (const transport of transports) {
        test(`in a batch over ${transport}: ${what}`, async () => {
          const { status: found, body } = await served.send(transport)(user, 'POST', '/batch', steps)
          assert.equal(found, status, JSON.stringify(body))
          assert.deepEqual(
            (body as readonly Answer[]).map(({ status }) => status),
            statuses,
          )
          assert.deepEqual(await served.stock(), stock)
          assert.deepEqual(served.errors, [])
        })
      }
    }

    test('concurrent actions on one record never take more than there is', async () => {
      const send = served.send('http')
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => send('bob', 'POST', '/product/1/take', { quantity: 1 })),
      )
      const taken = answers.filter(({ status }) => status === 200).length
      assert.ok(
        answers.every(({ status }) => status === 200 || status === 409 || status === 503),
        JSON.stringify(answers),
      )
      const { product, sale } = served.records
      assert.equal((await product.findOne(1))?.stock, 5 - taken)
      assert.equal(await sale.count(), taken)
    })

    test('If-Match is compared with the version of the record', async () => {
      const take = async (version: string, path = '/product/1/take') => {
        const headers = { 'x-user': 'ann', 'Content-Type': 'application/json', 'If-Match': version }
        const response = await fetch(served.server.url + path, {
          method: 'POST',
          headers,
          body: path.endsWith('take') ? '{"quantity":1}' : '{}',
        })
        return response.status
      }
      const read = await fetch(`${served.server.url}/product/1`, { headers: { 'x-user': 'ann' } })
      const version = read.headers.get('etag') ?? ''
      assert.equal(await take('"AAAAAAAAAAAAAAAAAAAAAA-AAAAAAAAAAAAAAAAAAAAAA"'), 412)
      assert.equal(await take(version), 200)
      assert.equal(await take(version), 412)
      assert.equal(await take(version, '/product/1/slowly'), 400)
      assert.equal((await served.records.product.findOne(1))?.stock, 4)
    })

    test('an action that is repeated with its Idempotency-Key runs once', async () => {
      const take = async (key: string, path = '/product/1/take') => {
        const response = await fetch(served.server.url + path, {
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
      const { product, sale } = served.records
      assert.equal((await product.findOne(1))?.stock, 4)
      assert.equal(await sale.count(), 1)
      for (const path of ['/bytes', '/slow']) {
        const [refused, , problem] = await take(crypto.randomUUID(), path)
        assert.equal(refused, 400, `${problem}`)
        assert.match(`${problem}`, /without Idempotency-Key/)
      }
      assert.deepEqual(served.errors, [])
    })

    test('a socket that listens receives what an action of another client changed, as one of its own writes', async () => {
      const ann = await served.sockets.client('ann')
      assert.equal((await ann.ask('get', '/product/1')).statusCode, 200)
      await served.sockets.send('bob', 'POST', '/product/1/take', { quantity: 1 })
      await ann.until((name, payload) => name === 'product' && payload.verb === 'updated' && payload.data?.stock === 4)
      await served.sockets.send('ann', 'POST', '/product/1/rename', { name: 'Max' })
      await ann.until(
        (name, payload) => name === 'product' && payload.verb === 'updated' && payload.data?.name === 'Max',
      )
    })
  })
}
