import assert from 'node:assert/strict'
import type { JsonObject } from '../../protocol/json.ts'
import { create, list, record, refused, stored } from '../expect.ts'
import type { Api, Scenario } from '../scenario.ts'

const tagOf = async (api: Api, path: string): Promise<string> => {
  const tag = (await api.request('GET', path)).header('etag')
  assert.match(tag ?? '', /^"[\x21\x23-\x7e]+"$/)
  return tag as string
}

/** Entity tags: conditional reads (`If-None-Match`) and conditional writes (`If-Match`). */
export const versions: readonly Scenario[] = [
  {
    name: 'versions: If-None-Match with the current tag answers 304',
    async run(api) {
      const { id } = await create(api, 'specimen', { label: 'a' })
      for (const path of [`/specimen/${id}`, '/specimen', '/specimen?label=a', `/specimen/${id}?select=label`]) {
        const tag = await tagOf(api, path)
        for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
          const answer = await api.request('GET', path, { headers: { 'if-none-match': known } })
          assert.deepEqual([answer.status, answer.text, answer.header('etag')], [304, '', tag], path)
        }
        assert.equal((await api.request('GET', path, { headers: { 'if-none-match': '"other"' } })).status, 200)
      }
      const before = await Promise.all([tagOf(api, `/specimen/${id}`), tagOf(api, '/specimen')])
      record(await api.request('PATCH', `/specimen/${id}`, { body: { label: 'b' } }))
      const after = await Promise.all([tagOf(api, `/specimen/${id}`), tagOf(api, '/specimen')])
      assert.ok(before.every((tag, index) => tag !== after[index]))
    },
  },
  {
    name: 'versions: If-Match with an outdated tag refuses the write',
    async run(api) {
      const { id } = await create(api, 'specimen', { label: 'a' })
      const path = `/specimen/${id}`
      const old = await tagOf(api, path)
      const first = await api.request('PATCH', path, { body: { label: 'b' }, headers: { 'if-match': old } })
      assert.equal(record(first).label, 'b')
      for (const method of ['PATCH', 'PUT', 'POST']) {
        refused(
          await api.request(method, path, { body: { label: 'c' }, headers: { 'if-match': old } }),
          'E_PRECONDITION_FAILED',
          { model: 'specimen' },
        )
      }
      refused(await api.request('DELETE', path, { headers: { 'if-match': old } }), 'E_PRECONDITION_FAILED')
      assert.equal((await stored(api, 'specimen', id)).label, 'b')

      const current = first.header('etag') as string
      record(await api.request('PATCH', path, { body: { label: 'd' }, headers: { 'if-match': `"other", ${current}` } }))
      record(await api.request('DELETE', path, { headers: { 'if-match': await tagOf(api, path) } }))
      assert.deepEqual(list(await api.request('GET', '/specimen')), [])
    },
  },
  {
    name: 'versions: a tag of a populated answer is accepted, a tag of a projection is not',
    async run(api) {
      const ann = (await create(api, 'keeper', { name: 'Ann' })).id as number
      await create(api, 'animal', { name: 'Leo', keeper: ann })
      const path = `/keeper/${ann}`
      for (const shown of [path, `${path}?populate=false`, `${path}?populate=animals`]) {
        record(
          await api.request('PATCH', path, { body: { age: 30 }, headers: { 'if-match': await tagOf(api, shown) } }),
        )
      }
      for (const shown of [`${path}?select=name&populate=false`, '/keeper']) {
        const headers = { 'if-match': await tagOf(api, shown) }
        const answer = await api.request('PATCH', path, { body: { age: 31 }, headers })
        refused(answer, 'E_PRECONDITION_FAILED')
        assert.match(String((answer.body as JsonObject).detail), /^If-Match names no version of the keeper/)
      }
    },
  },
  {
    name: 'versions: `*` matches any version; weak and malformed tags match none',
    async run(api) {
      const { id } = await create(api, 'specimen', { label: 'a' })
      const path = `/specimen/${id}`
      record(await api.request('PATCH', path, { body: { label: 'b' }, headers: { 'if-match': '*' } }))
      const tag = await tagOf(api, path)
      for (const wrong of [`W/${tag}`, tag.slice(1, -1), '""', '"x"', `${tag}x`]) {
        refused(
          await api.request('PATCH', path, { body: { label: 'c' }, headers: { 'if-match': wrong } }),
          'E_PRECONDITION_FAILED',
        )
      }
      refused(
        await api.request('PATCH', '/specimen/999999', { body: {}, headers: { 'if-match': '*' } }),
        'E_NO_SUCH_RECORD',
      )
    },
  },
  {
    name: 'versions: a write with `If-None-Match: *` gets 412 where the record exists',
    async run(api) {
      const ann = (await create(api, 'keeper', { name: 'Ann', email: 'ann@example.org' })).id
      const headers = { 'if-none-match': '*' }
      for (const method of ['PATCH', 'PUT', 'DELETE'])
        refused(await api.request(method, `/keeper/${ann}`, { body: { age: 30 }, headers }), 'E_PRECONDITION_FAILED')
      refused(await api.request('PATCH', '/keeper/999999', { body: {}, headers }), 'E_NO_SUCH_RECORD')
      const upsert = (email: string) =>
        api.request('POST', '/keeper?upsert=email', { body: { name: 'Bob', email }, headers })
      refused(await upsert('ann@example.org'), 'E_PRECONDITION_FAILED')
      assert.equal(record(await api.request('GET', `/keeper/${ann}`)).name, 'Ann')
      assert.equal((await upsert('bob@example.org')).status, 201)
      const created = (key: JsonObject) => api.request('POST', '/keeper', { body: { ...key, name: 'Cid' }, headers })
      refused(await created({ id: ann as number }), 'E_PRECONDITION_FAILED', { model: 'keeper' })
      assert.equal((await created({ id: 999 })).status, 201)
      assert.equal((await created({})).status, 201)
    },
  },
  {
    name: 'versions: exactly one of several simultaneous writes with the same tag succeeds',
    async run(api) {
      const { id } = await create(api, 'specimen', { legs: 0 })
      const tag = await tagOf(api, `/specimen/${id}`)
      const asked = Array.from({ length: 8 }, (_, legs) =>
        api.request('PATCH', `/specimen/${id}`, { body: { legs: legs + 1 }, headers: { 'if-match': tag } }),
      )
      const statuses = (await Promise.all(asked)).map(({ status }) => status).sort()
      assert.deepEqual(statuses, [200, ...Array(7).fill(412)])
    },
  },
]
