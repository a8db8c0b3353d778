import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService, type Service } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

const models = {
  owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: { attributes: { name: { type: 'string' }, extra: { type: 'json' }, owner: { model: 'owner' } } },
} as const

const sql = ['name"', "name'", 'name; drop table pet', 'name--', 'name) or 1=1', '1=1', 'pet.name', 'rowid', 'ctid']
const prototypes = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']
const where = (value: unknown) => `where=${encodeURIComponent(JSON.stringify(value))}`

/** Names that are not attributes, in each place where a request names one. */
const places: readonly (readonly [place: string, path: (name: string) => string])[] = [
  ['where', (name) => `/pet?${where({ [name]: 1 })}`],
  ['a nested where', (name) => `/pet?${where({ or: [{ not: { [name]: 1 } }] })}`],
  ['a related where', (name) => `/pet?${where({ owner: { [name]: 1 } })}`],
  ['a modifier', (name) => `/pet?${where({ name: { [name]: 1 } })}`],
  ['sort', (name) => `/pet?sort=${encodeURIComponent(name)}`],
  ['a direction', (name) => `/pet?sort=${encodeURIComponent(`name ${name}`)}`],
  ['a sort object', (name) => `/pet?sort=${encodeURIComponent(JSON.stringify([{ [name]: 'ASC' }]))}`],
  ['select', (name) => `/pet?select=${encodeURIComponent(name)}`],
  ['omit', (name) => `/pet?omit=${encodeURIComponent(name)}`],
  ['populate', (name) => `/pet?populate=${encodeURIComponent(name)}`],
  ['a parameter', (name) => `/pet?${encodeURIComponent(name)}=1`],
  ['an association', (name) => `/pet/1/${encodeURIComponent(name)}`],
  ['a model', (name) => `/${encodeURIComponent(name)}`],
]

const values: readonly (readonly [what: string, value: unknown])[] = [
  ['SQL', `Rex'); drop table pet; --`],
  ['wildcards', '%_\\'],
  ['a template', '{{7*7}}<%= 1 %>'],
  ['a script', '</script><script>alert(1)</script>'],
  ['line separators', '\u2028\u2029'],
  ['a carriage return', 'a\r\nSet-Cookie: x=1'],
]

for (const database of databases) {
  describe(`injection, ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Service
    const ask = async (path: string, body?: unknown) => {
      const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      const headers = { 'content-type': 'application/json' }
      const response = await service.fetch(new Request(`http://localhost${path}`, { headers, ...init }))
      return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) }
    }

    before(async () => {
      opened = await database.open()
      service = (await createService({
        models,
        database: opened.url,
        onError: (error) => assert.fail(String(error)),
      })) as never
      await ask('/pet', { name: 'Rex' })
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    for (const [place, path] of places) {
      test(`a name in ${place} is looked up, never executed`, async () => {
        for (const name of [...sql, ...prototypes]) {
          const { status, body } = await ask(path(name))
          assert.ok(status === 400 || status === 404, `${name}: ${status}`)
          assert.doesNotMatch(JSON.stringify(body), /syntax|sqlite|select |stack|at Object/i)
        }
        assert.equal((await ask('/pet?populate=false&name=Rex')).body.length, 1)
      })
    }

    for (const [what, value] of values) {
      test(`a value with ${what} is stored and found as it is`, async () => {
        const { status, body } = await ask('/pet', { name: value, extra: { [String(value)]: value } })
        assert.equal(status, 201)
        assert.deepEqual([body.name, body.extra], [value, { [String(value)]: value }])
        const found = await ask(`/pet?populate=false&${where({ name: { contains: value } })}`)
        assert.deepEqual(
          found.body.map(({ name }: { name: string }) => name),
          [value],
        )
        assert.equal(found.headers.get('set-cookie'), null)
      })
    }

    for (const [what, value] of [
      ['a NUL character', 'a\0b'],
      ['half of a surrogate pair', 'a\ud800b'],
    ] as const)
      test(`a value with ${what} is refused, also where it is searched for`, async () => {
        assert.equal((await ask('/pet', { name: value })).status, 400)
        assert.equal((await ask('/pet', { name: 'x', extra: { [value]: 1 } })).status, 400)
        for (const modifier of ['contains', 'startsWith', 'like', '!=', '>'])
          assert.equal((await ask(`/pet?${where({ name: { [modifier]: value } })}`)).status, 400)
      })

    test('an object is not taken for a value', async () => {
      for (const id of [{ '>': 0 }, ['1'], { toString: 1 }, { length: 1 }]) {
        const { status } = await ask(`/pet?${where({ owner: { name: id } })}`)
        assert.ok(status === 200 || status === 400)
        assert.equal((await ask('/pet', { name: id })).status, 400)
      }
    })

    test('names of prototypes are members like any other in a JSON value', async () => {
      const extra = JSON.parse('{"__proto__":{"admin":true},"constructor":1}')
      const { body } = await ask('/pet', { name: 'Proto', extra })
      assert.equal(JSON.stringify(body.extra), JSON.stringify(extra))
      assert.equal(({} as { admin?: boolean }).admin, undefined)
    })
  })
}
