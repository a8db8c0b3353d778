import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Service } from '../../src/index.ts'
import { createService } from '../../src/index.ts'
import { isEncoded } from '../../src/protocol/json.ts'
import { assertDefined } from '../../src/support/assert.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

const models = {
  owner: {
    attributes: { name: { type: 'string' }, text: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } },
  },
  pet: { attributes: { name: { type: 'string' }, owner: { model: 'owner' } } },
} as const

const megabyte = 'é'.repeat(500_000)
const namesOf = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, 1]))

for (const database of databases) {
  if (database.name === 'memory') continue
  describe(`the size of a response, ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Service
    const ask = async (method: string, path: string, body?: object) => {
      const request = new Request(`http://localhost${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      const response = await service.fetch(request)
      const text = await response.text()
      return { status: response.status, bytes: Buffer.byteLength(text), body: JSON.parse(text) }
    }

    before(async () => {
      opened = await database.open()
      service = (await createService({ models, database: opened.url, populate: false })) as never
      // A statement that is repeated because it took long would have taken the generated key 1.
      const owner = await ask('POST', '/owner', { id: 1, name: 'Ann', text: megabyte })
      assert.equal(owner.status, 201, JSON.stringify(owner.body))
      for (let index = 0; index < 40; index++) {
        const pet = await ask('POST', '/pet', { name: `Rex ${index}`, owner: 1 })
        assert.equal(pet.status, 201, JSON.stringify(pet.body))
      }
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    const requests: readonly (readonly [name: string, method: string, path: string, body?: object])[] = [
      ['a record of 1 MB, embedded in 40 others', 'GET', '/pet?limit=40&populate=owner'],
      ['the same by the shortcut', 'GET', '/pet/find?limit=40&populate=owner'],
      ['the same within a list of one record', 'GET', '/owner/1?populate={"pets":{"limit":40,"populate":"owner"}}'],
      ['the same as the members of an association', 'GET', '/owner/1/pets?limit=40&populate=owner'],
    ]
    for (const [name, method, path, body] of requests) {
      test(`${name}: 400 that names maxAnswerBytes`, async () => {
        const answer = await ask(method, path, body)
        assert.deepEqual([answer.status, answer.body.limit], [400, 'maxAnswerBytes'])
        assert.ok(answer.bytes < 1_000)
      })
    }

    test('a response within the limit is answered', async () => {
      assert.equal((await ask('GET', '/pet?limit=10&populate=owner')).status, 200)
    })

    test('a write is answered in any case: with the primary key, where the record is too large', async () => {
      const answer = await ask('PATCH', '/owner/1?populate={"pets":{"limit":40,"populate":"owner"}}', { name: 'Bob' })
      assert.deepEqual([answer.status, answer.body], [200, { id: 1 }])
      assert.equal((await ask('GET', '/owner/1?select=name')).body.name, 'Bob')
    })

    test('a stored answer of 1 MB is repeated; its bytes are not decoded on SQLite, where they are read in this process', async () => {
      const headers = { 'idempotency-key': 'long' }
      const request = {
        method: 'POST',
        path: '/owner',
        query: '',
        body: { text: megabyte },
        headers,
        site: 'none',
      } as const
      const texts: string[] = []
      for (const isParted of [false, database.name === 'sqlite']) {
        const body = assertDefined((await service.handle(request)).body, 'an answer without a body')
        assert.ok(isEncoded(body))
        assert.equal((body.parts?.length ?? 0) > 1, isParted)
        texts.push(body.encoded)
      }
      assert.equal(JSON.parse(texts[0] as string).text, megabyte)
      assert.equal(texts[1], texts[0])
    })

    for (const [count, code] of [
      [90_000, 'E_BAD_BODY'],
      [10_000, 'E_INVALID_ATTRIBUTES'],
    ] as const) {
      test(`a body of ${count} unknown names gets a short answer`, async () => {
        const answer = await ask('POST', '/pet', namesOf(count))
        assert.deepEqual([answer.status, answer.body.code], [400, code])
        assert.ok(answer.bytes < 10_000, `${answer.bytes} bytes`)
      })
    }

    test('a body of one long unknown name gets a short answer', async () => {
      const answer = await ask('POST', '/pet', { ['n'.repeat(1_000_000)]: 1 })
      assert.deepEqual([answer.status, answer.body.code], [400, 'E_INVALID_ATTRIBUTES'])
      assert.ok(answer.bytes < 10_000, `${answer.bytes} bytes`)
    })
  })
}
