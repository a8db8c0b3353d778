import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService, type Service } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* Databases count on from the largest key: a client that gives the last number must not end the counting for all. */

const models = {
  pet: { attributes: { name: { type: 'string' }, visits: { collection: 'visit', via: 'pet' } } },
  visit: { attributes: { pet: { model: 'pet' } } },
  ledger: { attributes: { id: { type: 'bigint', autoIncrement: true }, name: { type: 'string' } } },
} as const

interface Case {
  readonly name: string
  readonly path: string
  readonly body: unknown
}

const last = { pet: Number.MAX_SAFE_INTEGER, ledger: String(2n ** 63n - 1n) }
const largest = { pet: 2 ** 52, ledger: String(2n ** 62n) }
const cases = (model: keyof typeof last, id: unknown): readonly Case[] => [
  { name: 'a create', path: `/${model}`, body: { id } },
  { name: 'a list of creates', path: `/${model}`, body: [{ name: 'a' }, { id }] },
  { name: 'an upsert', path: `/${model}?upsert=id`, body: { id } },
  { name: 'a batch', path: '/batch', body: [{ method: 'POST', url: `/${model}`, body: { id } }] },
]
const refused: readonly Case[] = [
  ...cases('pet', last.pet),
  { name: 'text', path: '/pet', body: { id: String(last.pet) } },
  { name: 'the first that is too large', path: '/pet', body: { id: largest.pet + 1 } },
  ...cases('ledger', last.ledger).map((given) => ({ ...given, name: `${given.name}, of a big integer` })),
]

for (const database of databases) {
  describe(`a key that leaves none for others, ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Service
    const post = async (path: string, body: unknown) => {
      const headers = { 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      const response = await service.fetch(new Request(`http://localhost${path}`, init))
      return { status: response.status, body: (await response.json()) as { id: number | string } }
    }
    before(async () => {
      opened = await database.open()
      service = (await createService({
        models,
        database: opened.url,
        onError: (error) => assert.fail(String(error)),
      })) as never
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    for (const { name, path, body } of refused)
      test(`${name} is refused`, async () => {
        assert.equal((await post(path, body)).status, 400)
      })

    test('after the largest, keys are generated', async () => {
      for (const model of ['pet', 'ledger'] as const) {
        const first = await post(`/${model}`, {})
        assert.equal(Number(first.body.id) < 100, true, 'the refused requests have changed nothing')
        // On PostgreSQL the sequence follows when it generates a key that exists.
        await post(`/${model}`, { id: Number(first.body.id) + 1 })
        assert.equal((await post(`/${model}`, { id: largest[model] })).status, 201)
        const made = await Promise.all([1, 2, 3].map(() => post(`/${model}`, {})))
        assert.deepEqual(
          made.map(({ status }) => status),
          [201, 201, 201],
        )
        assert.equal(new Set(made.map(({ body }) => body.id)).size, 3)
      }
    })
  })
}
