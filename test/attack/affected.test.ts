import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService, type Service, type ServiceError } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* One request that would change a large part of the database: refused, with how to do it in parts, and nothing changes. */

const models = {
  owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: {
    attributes: {
      name: { type: 'string' },
      born: { type: 'string', columnType: 'date' },
      owner: { model: 'owner' },
      tags: { collection: 'tag', via: 'pets' },
      visits: { collection: 'visit', via: 'pet' },
    },
  },
  visit: { attributes: { note: { type: 'string' }, pet: { model: 'pet', onDestroy: 'cascade' } } },
  tag: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'tags' } } },
} as const

const maxAffected = 20
const every = encodeURIComponent('{"id":{">":0}}')
const half = (operator: string) => encodeURIComponent(JSON.stringify({ id: { [operator]: 15 } }))
const list = (count: number, values: object) => Array.from({ length: count }, () => values)

const cases: readonly (readonly [what: string, method: string, path: string, body?: unknown])[] = [
  ['a change of all records', 'PATCH', `/pet?where=${every}`, { name: 'changed' }],
  ['a destroy of all records', 'DELETE', `/pet?where=${every}`],
  ['a destroy of a record that many refer to', 'DELETE', '/owner/1'],
  ['a destroy of a record whose dependents are destroyed with it', 'DELETE', '/pet/1'],
  ['a destroy of a record of a junction', 'DELETE', '/tag/1'],
  ['a replacement of the members by none', 'PUT', '/owner/1/pets', []],
  ['an update that replaces the members by none', 'PATCH', '/owner/1', { pets: [] }],
  ['a replacement of the members of a junction', 'PUT', '/tag/1/pets', [1]],
  [
    'a batch of changes within the limit each',
    'POST',
    '/batch',
    ['<=', '>'].map((operator) => ({
      method: 'PATCH',
      url: `/pet?where=${half(operator)}`,
      body: { name: 'changed' },
    })),
  ],
]

for (const database of databases) {
  describe(`on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Service<typeof models>

    async function send(method: string, path: string, body?: unknown) {
      const request = new Request(`http://localhost${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
      })
      const response = await service.fetch(request)
      return { status: response.status, text: await response.text() }
    }

    const stored = async (): Promise<readonly number[]> => {
      const { owner, pet, visit, tag } = service.system.records
      return [
        await owner.count(),
        await pet.count({ where: { owner: 1, name: 'Rex' } }),
        await visit.count({ where: { pet: 1 } }),
        (await tag.findOne(1, { populate: ['pets'] }))?.pets.length ?? 0,
      ]
    }

    before(async () => {
      opened = await database.open()
      service = await createService({ models, database: opened.url, limits: { maxAffected } })
      const { owner, pet, visit, tag } = service.system.records
      await owner.create({ name: 'Ann' })
      await tag.create({ name: 'large' })
      for (let count = 0; count < 2; count++) {
        const pets = await pet.createMany(list(15, { name: 'Rex', owner: 1 }) as never)
        await visit.createMany(list(15, { pet: 1 }) as never)
        for (const { id } of pets) await tag.add(1, 'pets', id)
      }
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    for (const [what, method, path, body] of cases)
      test(`${what} is refused`, async () => {
        const { status, text } = await send(method, path, body)
        assert.equal(status, 409, text)
        assert.match(text, /"limit":"maxAffected"/)
        assert.match(text, /several requests/)
        assert.deepEqual(await stored(), [1, 30, 30, 30])
      })

    const isMemory = database.name === 'memory' && 'its rows have no bytes'
    test('a change of records that are too large together is refused', { skip: isMemory }, async () => {
      await using limited = await createService({ models, database: opened.url, limits: { maxAffectedBytes: 5_000 } })
      const { note } = { note: 'x'.repeat(1_000) }
      const all = { where: { id: { '<=': 10 } } }
      await assert.rejects(limited.system.records.visit.updateMany(all, { note }), (error: ServiceError) => {
        assert.deepEqual([error.status, error.details.limit], [409, 'maxAffectedBytes'])
        assert.match(error.message, /several requests/)
        return true
      })
    })

    test('a list of new records that is too long is refused', async () => {
      const { status, text } = await send('POST', '/pet', list(maxAffected + 1, { name: 'Evil' }))
      assert.equal(status, 400)
      assert.match(text, /"limit":"maxAffected"/)
      assert.deepEqual(await stored(), [1, 30, 30, 30])
    })
  })
}
