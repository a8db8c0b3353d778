import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { column, create, list, refused } from '../expect.ts'
import type { Answer, Api, Scenario } from '../scenario.ts'

let keys = 0
/** A key that no other scenario uses: the tables of answers are not emptied between them. */
const newKey = (): string => `key-${process.pid}-${Date.now()}-${keys++}`

const send = (api: Api, key: string, method: string, path: string, body?: Json): Promise<Answer> =>
  api.request(method, path, { headers: { 'idempotency-key': key }, ...(body !== undefined && { body }) })

/** The same answer again, and marked as such. */
function sameAnswer(first: Answer, again: Answer): void {
  assert.deepEqual([again.status, again.text], [first.status, first.text])
  assert.equal(again.header('etag'), first.header('etag'))
  assert.equal(again.header('idempotency-replayed'), 'true')
  assert.equal(first.header('idempotency-replayed'), undefined)
}

/** Writes that a client repeats because it does not know whether they were executed. */
export const idempotency: readonly Scenario[] = [
  {
    name: 'idempotency: a repeated write is answered again and not executed again',
    async run(api) {
      const ann = await create(api, 'keeper', { name: 'Ann' })
      const writes: readonly (readonly [method: string, path: string, body?: Json])[] = [
        ['POST', '/specimen', { label: 'a' }],
        ['POST', '/specimen', [{ label: 'b' }, { label: 'c' }]],
        ['PATCH', `/keeper/${ann.id}`, { age: 30 }],
        ['POST', `/keeper/${ann.id}/animals`, { name: 'Rex' }],
        ['POST', '/keeper?upsert=email', { email: 'b@x.org', name: 'Bob' }],
        ['DELETE', `/keeper/${ann.id}`],
        ['POST', '/batch', [{ method: 'POST', url: '/specimen', body: { label: 'd' } }]],
      ]
      for (const [method, path, body] of writes) {
        const key = newKey()
        const first = await send(api, key, method, path, body)
        assert.ok(first.status < 300, first.text)
        sameAnswer(first, await send(api, key, method, path, body))
        sameAnswer(first, await send(api, key, method, path, body))
      }
      assert.deepEqual(column(await api.request('GET', '/specimen'), 'label'), ['a', 'b', 'c', 'd'])
      assert.equal(list(await api.request('GET', '/animal')).length, 1)
      assert.equal(list(await api.request('GET', '/keeper')).length, 1)
    },
  },
  {
    name: 'idempotency: a key that was used for another request is refused',
    async run(api) {
      const key = newKey()
      await send(api, key, 'POST', '/specimen', { label: 'a' })
      refused(await send(api, key, 'POST', '/specimen', { label: 'b' }), 'E_IDEMPOTENCY_MISMATCH')
      refused(await send(api, key, 'POST', '/specimen?populate=false', { label: 'a' }), 'E_IDEMPOTENCY_MISMATCH')
      refused(await send(api, key, 'POST', '/team', { title: 'a' }), 'E_IDEMPOTENCY_MISMATCH')
      refused(await send(api, key, 'POST', '/batch', []), 'E_IDEMPOTENCY_MISMATCH')
      assert.deepEqual(column(await api.request('GET', '/specimen'), 'label'), ['a'])
    },
  },
  {
    name: 'idempotency: a write that failed may be repeated',
    async run(api) {
      const key = newKey()
      refused(await send(api, key, 'PATCH', '/enclosure/c1', { title: 'a' }), 'E_NO_SUCH_RECORD')
      await create(api, 'enclosure', { code: 'c1' })
      assert.equal((await send(api, key, 'PATCH', '/enclosure/c1', { title: 'a' })).status, 200)
      const failing = newKey()
      const items: readonly JsonObject[] = [
        { method: 'POST', url: '/specimen', body: {} },
        { method: 'DELETE', url: '/enclosure/c2' },
      ]
      assert.equal((await send(api, failing, 'POST', '/batch', items)).status, 404)
      await create(api, 'enclosure', { code: 'c2' })
      assert.equal((await send(api, failing, 'POST', '/batch', items)).status, 200)
      assert.equal(list(await api.request('GET', '/specimen')).length, 1)
    },
  },
  {
    name: 'idempotency: concurrent requests with one key are executed once',
    async run(api) {
      const key = newKey()
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => send(api, key, 'POST', '/specimen', { label: 'a' })),
      )
      const created = answers.filter(({ status }) => status === 201)
      assert.ok(created.length >= 1)
      for (const { status } of answers) assert.ok(status === 201 || status === 409, String(status))
      assert.equal(new Set(created.map(({ text }) => text)).size, 1)
      assert.equal(list(await api.request('GET', '/specimen')).length, 1)
      sameAnswer(
        created.find((one) => one.header('idempotency-replayed') === undefined) as Answer,
        await send(api, key, 'POST', '/specimen', { label: 'a' }),
      )
    },
  },
  {
    name: 'idempotency: reads ignore the key, and keys that are too long or of batches that are not atomic are refused',
    async run(api) {
      const key = newKey()
      await create(api, 'specimen', { label: 'a' })
      assert.equal((await send(api, key, 'GET', '/specimen')).status, 200)
      await send(api, key, 'POST', '/specimen', { label: 'b' })
      assert.deepEqual(column(await send(api, key, 'GET', '/specimen'), 'label'), ['a', 'b'])
      refused(await send(api, 'x'.repeat(256), 'POST', '/specimen', {}), 'E_BAD_REQUEST')
      refused(await send(api, newKey(), 'POST', '/batch?atomic=false', []), 'E_BAD_REQUEST')
    },
  },
]
