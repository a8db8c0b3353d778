import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { databases } from '../support/databases.ts'
import { LiveTestClient } from '../support/live-client.ts'

/* Every answer to a write has the token of its operation, every answer to a read has a position. */

const models = { pet: { attributes: { name: { type: 'string' } } } } as const
const post = (url: string, body: object, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', ...headers },
  })

for (const { name, missing, open } of databases) {
  if (name === 'memory') continue
  describe(`on ${name}`, { skip: missing ?? false }, () => {
    test('a write has a token of its own, and a request that changed nothing has none', async () => {
      await using database = await open()
      await using service = await createService({ database: database.url, models })
      const { url } = await service.listen(0)
      const tokens: (string | null)[] = []
      for (const name of ['a', 'b']) {
        const response = await post(`${url}/pet`, { name })
        assert.equal(response.status, 201)
        tokens.push(response.headers.get('keelson-operation'))
      }
      const patch = await fetch(`${url}/pet/1`, {
        method: 'PATCH',
        body: '{"name":"c"}',
        headers: { 'Content-Type': 'application/json' },
      })
      tokens.push(patch.headers.get('keelson-operation'))
      assert.equal(new Set(tokens).size, 3)
      for (const token of tokens) assert.match(token ?? '', /^[\w-]{22}$/)
      for (const response of [await fetch(`${url}/pet`), await fetch(`${url}/pet/99`, { method: 'DELETE' })])
        assert.equal(response.headers.get('keelson-operation'), null)
    })

    test('a repeated write with an `Idempotency-Key` has the token of the first, and one that changed nothing none', async () => {
      await using database = await open()
      await using service = await createService({ database: database.url, models })
      const { url } = await service.listen(0)
      const batch = [{ method: 'POST', url: '/pet', body: { name: 'b' } }]
      for (const [path, body, key] of [
        ['/pet', { name: 'a' }, 'key-of-a'],
        ['/batch', batch, 'key-of-b'],
      ] as const) {
        const first = await post(url + path, body, { 'Idempotency-Key': key })
        assert.ok(first.ok, await first.clone().text())
        const again = await post(url + path, body, { 'Idempotency-Key': key })
        assert.equal(again.headers.get('idempotency-replayed'), 'true')
        assert.match(first.headers.get('keelson-operation') ?? '', /^[\w-]{22}$/)
        assert.equal(again.headers.get('keelson-operation'), first.headers.get('keelson-operation'), path)
      }
      for (let time = 0; time < 2; time++) {
        const headers = { 'Idempotency-Key': 'key-of-none', 'Content-Type': 'application/json' }
        const none = await fetch(`${url}/pet?where={"name":"nobody"}`, {
          method: 'PATCH',
          headers,
          body: '{"name":"c"}',
        })
        assert.deepEqual([none.status, none.headers.get('keelson-operation')], [200, null])
      }
    })

    test('a read after the answer to a write contains it on another process, and the frame with its token names its position', async () => {
      await using database = await open()
      await using one = await createService({ database: database.url, models })
      await using other = await createService({ database: database.url, models })
      const [first, second] = [await one.listen(0), await other.listen(0)]
      await using client = await LiveTestClient.open(first.url, { pets: { model: 'pet', limit: 1 } })
      for (let count = 1; count <= 10; count++) {
        const written = await post(`${first.url}/pet`, { name: `${count}` })
        assert.equal(((await (await fetch(`${second.url}/pet`)).json()) as readonly unknown[]).length, count)
        assert.equal(written.headers.get('keelson-position'), null)
        const token = written.headers.get('keelson-operation') as string
        await client.until(() => client.operations.has(token))
        const frame = client.frames.find(({ data }) => (data.operations as readonly string[])?.includes(token))
        const after = await fetch(`${second.url}/pet`, { headers: { 'Keelson-After': frame?.data.position as string } })
        assert.equal(((await after.json()) as readonly unknown[]).length, count)
      }
    })

    test('a request waits until its process has seen a position of another one', async () => {
      await using database = await open()
      await using one = await createService({ database: database.url, models })
      await using other = await createService({ database: database.url, models, limits: { maxAfterWaitMs: 30 } })
      const [first, second] = [await one.listen(0), await other.listen(0)]
      let position: string | null = null
      for (let legs = 0; legs < 5; legs++) {
        const { headers } = await post(`${first.url}/pet`, { name: `${legs}` })
        await fetch(`${first.url}/pet`, { headers: position === null ? {} : { 'Keelson-After': position } })
        position = headers.get('keelson-position') ?? position
        const seen = await fetch(`${second.url}/pet`, {
          headers: position === null ? {} : { 'Keelson-After': position },
        })
        assert.equal(((await seen.json()) as readonly unknown[]).length, legs + 1)
      }
      const read = await fetch(`${first.url}/pet`)
      const known = read.headers.get('keelson-position') ?? ''
      assert.notEqual(known, '')
      assert.equal((await fetch(`${second.url}/pet`, { headers: { 'Keelson-After': known } })).status, 200)
      for (const wrong of ['x', 'x.1.1', '%', '0:0:'])
        assert.equal((await fetch(`${second.url}/pet`, { headers: { 'Keelson-After': wrong } })).status, 400)
      const late = await fetch(`${second.url}/pet`, { headers: { 'Keelson-After': laterThan(known) } })
      assert.deepEqual([late.status, late.headers.get('retry-after')], [503, '1'])
      assert.equal(((await late.json()) as { limit: string }).limit, 'maxAfterWaitMs')
    })
  })
}

/** A position that no process will reach soon. */
function laterThan(position: string): string {
  const [history, place = '', at] = position.split('.')
  if (at !== undefined) return `${history}.zzzzz.${at}`
  const [, xmax = ''] = place.split(':')
  const later = BigInt(xmax) + 1_000_000n
  return `${history}.${later}:${later}:`
}
