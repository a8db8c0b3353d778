import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createService } from '../../src/index.ts'
import type { Json, JsonObject } from '../../src/protocol/json.ts'
import { RawSocket } from '../support/raw-socket.ts'
import { schemaDatabases } from '../support/schema-databases.ts'

const [, { missing, open }] = schemaDatabases

/** The types of key columns, a key, and a text that the type refuses. */
const types = [
  ['mood', 'happy', 'zzz'],
  ['macaddr', '08:00:2b:01:02:03', 'x'],
  ['inet', '10.0.0.1', 'x'],
] as const

for (const [type, key, other] of types) {
  test(`no record has a key that its column refuses: ${type}`, { skip: missing ?? false }, async () => {
    await using database = await open()
    await database.execute(`create type mood as enum ('happy', 'sad');
      create table place (code ${type} primary key, name text);
      create table visit (id serial primary key, place ${type} references place);
      insert into place values ('${key}', 'A')`)
    await using service = await createService({
      database: database.url,
      attributes: { createdAt: false, updatedAt: false },
      models: {
        place: {
          attributes: {
            code: { type: 'string', primaryKey: true, required: true },
            name: { type: 'string' },
            visits: { collection: 'visit', via: 'place' },
          },
        },
        visit: { attributes: { place: { model: 'place' } } },
      },
    })
    const { url } = await service.listen(0)
    const ask = async (method: string, path: string, body?: Json) => {
      const headers = { 'Content-Type': 'application/json' }
      const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
      const { code } = (await answer.json()) as JsonObject
      return answer.ok ? answer.status : [answer.status, code]
    }
    const requests = (id: string): readonly (readonly [method: string, path: string, body?: Json])[] => [
      ['GET', `/place/${id}`],
      ['GET', `/place/${id}?populate=false`],
      ['GET', `/place/${id}/visits`],
      ['PATCH', `/place/${id}`, { name: 'B' }],
      ['PUT', '/place', { id, name: 'B' }],
      ['PUT', `/place/${id}/visits`, []],
      ['POST', `/place/${id}/visits`, {}],
      ['DELETE', `/place/${id}`],
    ]
    for (const [method, path, body] of requests(other))
      assert.deepEqual(await ask(method, path, body), [404, 'E_NO_SUCH_RECORD'], `${method} ${path}`)
    for (const [method, path, body] of requests(key))
      assert.equal(await ask(method, path, body), 200, `${method} ${path}`)
    assert.equal(await service.system.records.place.findOne(other), undefined)
    await using socket = await RawSocket.connect(url)
    for (const method of ['get', 'patch', 'delete'])
      assert.equal((await socket.ask(method, { url: `/place/${other}`, data: {} })).statusCode, 404, method)
    // A value of a condition, or of a record, is one that the column refuses.
    assert.deepEqual(await ask('GET', `/place?code=${other}`), [400, 'E_BAD_CRITERIA'])
    assert.deepEqual(await ask('POST', '/place', { code: other }), [400, 'E_INVALID_ATTRIBUTES'])
    assert.deepEqual(await ask('POST', '/place?upsert=code', { code: other, name: 'B' }), [400, 'E_BAD_CRITERIA'])
  })
}
