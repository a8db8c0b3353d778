import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newFile } from '../../test/support/sqlite.ts'
import { createService } from '../index.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { chunksOf } from '../support/chunks-of.ts'

type Service = Readonly<{ fetch: (request: Request) => Promise<Response>; close: () => Promise<void> }>

/* Beside keys, a condition on an association reads what these records refer to, and not the whole related table. */

const models = {
  city: { attributes: { name: { type: 'string' }, owners: { collection: 'owner', via: 'city' } } },
  owner: {
    attributes: { name: { type: 'string' }, city: { model: 'city' }, pets: { collection: 'pet', via: 'owner' } },
  },
  pet: {
    attributes: {
      name: { type: 'string' },
      owner: { model: 'owner' },
      mother: { model: 'pet' },
      tags: { collection: 'tag', via: 'pets' },
    },
  },
  tag: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'tags' } } },
} as const

const count = 1200
const rows = Array.from({ length: count }, (_, index) => index + 1)
const records: Readonly<Record<keyof typeof models, readonly JsonObject[]>> = {
  city: rows.map((id) => ({ id, name: `City ${id % 2}` })),
  owner: rows.map((id) => ({ id, name: `Owner ${id % 5}`, city: (id * 7) % count || null })),
  tag: rows.map((id) => ({ id, name: `Tag ${id % 2}` })),
  pet: rows.map((id) => ({
    id,
    name: `Pet ${id % 4}`,
    owner: (id * 3) % count || null,
    mother: id > 9 ? id - 9 : null,
    tags: [((id * 11) % count) + 1],
  })),
}
const keys = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 1200, 5000]

const cases: readonly (readonly [model: keyof typeof models, where: JsonObject])[] = [
  ['pet', { id: 21, owner: { name: 'Owner 3' } }],
  ['pet', { id: keys, owner: { name: 'Owner 3' } }],
  ['pet', { id: keys, owner: { city: { name: 'City 1' } } }],
  ['pet', { id: keys, owner: { pets: { name: 'Pet 1' } } }],
  ['pet', { id: keys, mother: { mother: { name: 'Pet 3' } } }],
  ['pet', { id: keys, tags: { name: 'Tag 1' } }],
  ['pet', { id: keys, tags: { pets: { owner: { name: 'Owner 2' } } } }],
  ['pet', { and: [{ id: keys }, { not: { owner: { name: 'Owner 3' } } }] }],
  ['pet', { id: keys, or: [{ owner: { name: 'Owner 3' } }, { not: { tags: { name: 'Tag 1' } } }] }],
  ['owner', { id: keys, pets: { name: 'Pet 1' } }],
  ['owner', { id: keys, pets: { tags: { id: [78, 1, 2], name: 'Tag 0' } } }],
  ['city', { id: keys, owners: { pets: { mother: { name: 'Pet 2' } } } }],
]

describe('a condition on an association beside keys', () => {
  const scans: string[] = []
  const openOn = (database: string): Promise<Service> =>
    createService({
      database,
      models,
      attributes: { createdAt: false, updatedAt: false },
      logger: { info: () => {}, warn: (_, message) => scans.push(message), error: () => {} },
    })
  let sqlite: Service
  let memory: Service
  before(async () => {
    sqlite = await openOn(`sqlite:${newFile()}`)
    memory = await openOn('memory:')
    for (const service of [sqlite, memory])
      for (const [model, list] of Object.entries(records))
        for (const some of chunksOf(list, 500))
          assert.equal((await ask(service, 'POST', `/${model}`, some)).length, some.length)
  })
  after(async () => {
    await sqlite.close()
    await memory.close()
  })

  for (const [model, where] of cases) {
    test(`${model} ${JSON.stringify(where)}`, async () => {
      const path = `/${model}?where=${encodeURIComponent(JSON.stringify(where))}&populate=false`
      const found = await ask(sqlite, 'GET', path)
      assert.deepEqual(found, await ask(memory, 'GET', path))
      assert.notEqual(found.length, 0)
      assert.deepEqual(scans, [])
    })
  }
})

test('records that are embedded under a rule through an association are read by key', async () => {
  const scans: string[] = []
  const isOpen = { city: { name: { '!=': 'City 1' } } }
  await using service = await createService({
    database: `sqlite:${newFile()}`,
    models: { ...models, owner: { ...models.owner, access: { read: () => isOpen, create: true } } },
    attributes: { createdAt: false, updatedAt: false },
    logger: { info: () => {}, warn: (_, message) => scans.push(message), error: () => {} },
  })
  for (const model of ['city', 'owner'] as const)
    for (const some of chunksOf(records[model], 500)) await ask(service, 'POST', `/${model}?count=true`, some)
  await service.system.records.pet.createMany([3, 6, 9, 12].map((owner) => ({ owner })))
  const owners = async (path: string) =>
    ((await ask(service, 'GET', path)) as readonly JsonObject[]).map(({ owner }) => owner && (owner as JsonObject).name)
  for (const path of ['/pet?populate=owner', '/pet?populate=owner&limit=3&skip=1'])
    assert.deepEqual((await owners(path)).slice(-3), ['Owner 1', null, 'Owner 2'])
  assert.deepEqual(scans, [])
})

async function ask(service: Service, method: string, path: string, body: Json = null): Promise<readonly Json[]> {
  const headers = { 'content-type': 'application/json' }
  const given = body && { body: JSON.stringify(body) }
  const response = await service.fetch(new Request(`http://localhost${path}`, { method, headers, ...given }))
  return response.json() as Promise<readonly Json[]>
}
