import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { databases } from '../support/databases.ts'

/* A record grows by one value at a time: each request is short, and a change of the record writes all of it, and its images to the log. */

const letters = ['a', 'b', 'c', 'd'] as const
const models = {
  text: {
    attributes: {
      key: { type: 'string', unique: true },
      data: { type: 'json' },
      ...Object.fromEntries(letters.map((name) => [name, { type: 'string' }] as const)),
    },
  },
} as const
const long = (letter: string) => letter.repeat(40_000)
const grown = { key: 'k', a: long('a'), b: long('b') }

for (const database of databases) {
  if (database.name === 'memory') continue
  describe(`a record has at most maxRecordBytes on ${database.name}`, { skip: database.missing ?? false }, () => {
    for (const [what, method, path, body, isRefused] of [
      ['a new record', 'POST', '/text', { a: long('a'), b: long('b'), c: long('c') }, true],
      ['a new record in a list', 'POST', '/text', [{ a: long('a'), b: long('b'), c: long('c') }], true],
      ['an update', 'PATCH', '/text/1', { c: long('c') }, true],
      ['an update with JSON', 'PATCH', '/text/1', { data: [long('c')] }, true],
      ['an update of the value that is there', 'PATCH', '/text/1', { a: long('c') }, false],
      ['an update with a short value', 'PATCH', '/text/1', { c: 'c' }, false],
      ['an update of many', 'PATCH', '/text?where={"id":{">":0}}', { c: long('c') }, true],
      ['an upsert', 'POST', '/text?upsert=key', { key: 'k', c: long('c') }, true],
      ['a batch', 'POST', '/batch', [{ method: 'PATCH', url: '/text/1', body: { c: long('c') } }], true],
    ] as const)
      test(`${what} is ${isRefused ? 'refused' : 'possible'}`, async () => {
        await using opened = await database.open()
        await using service = await createService({ database: opened.url, models, limits: { maxRecordBytes: 100_000 } })
        const send = async (method: string, path: string, body?: unknown) => {
          const headers = { 'Content-Type': 'application/json' }
          const sent = body === undefined ? {} : { body: JSON.stringify(body), headers }
          const response = await service.fetch(new Request(`http://localhost${path}`, { method, ...sent }))
          return { status: response.status, answer: (await response.json()) as JsonObject & [{ body: JsonObject }] }
        }
        assert.equal((await send('POST', '/text', grown)).status, 201)
        const { status, answer } = await send(method, path, body)
        const { limit } = path === '/batch' ? answer[0].body : answer
        if (isRefused) assert.deepEqual([status, limit], [409, 'maxRecordBytes'])
        else assert.equal(status, 200)
        const { answer: stored } = await send('GET', '/text')
        assert.equal(stored.length, 1)
        const { c } = stored[0] as JsonObject
        assert.ok(c === null || c === 'c')
      })
  })
}
