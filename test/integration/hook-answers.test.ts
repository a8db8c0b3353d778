import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* The answer to a write is the record after the hooks within its transaction, which may have changed it. */

// biome-ignore lint/suspicious/noExplicitAny: the types of records are not the subject
type Any = any

const plain = { createdAt: false, updatedAt: false } as const
const stamp = async ({ record, tx }: Any) => {
  if (!String(record.name).startsWith('hooked')) await tx.owner.update(record.id, { name: `hooked ${record.name}` })
}
const count = async ({ record, tx }: Any) => {
  if (record.owner !== null)
    await tx.keeper.update(record.owner, { pets: await tx.pet.count({ where: { owner: record.owner } }) })
}
const models: Any = {
  owner: {
    attributes: { ...plain, name: { type: 'string', unique: true } },
    hooks: { within: { create: stamp, update: stamp } },
  },
  keeper: {
    attributes: { ...plain, pets: { type: 'number', defaultsTo: 0 }, kept: { collection: 'pet', via: 'owner' } },
  },
  pet: { attributes: { ...plain, owner: { model: 'keeper' } }, hooks: { within: { create: count, update: count } } },
}

const cases: readonly (readonly [line: string, body: unknown])[] = [
  ['POST /owner', { name: 'Ann' }],
  ['POST /owner', [{ name: 'Ann' }, { name: 'Bob' }]],
  ['POST /owner?upsert=name', { name: 'Ann' }],
  ['PATCH /owner/1', { name: 'Ann' }],
  ['POST /keeper', { kept: [{}, 1] }],
  ['PATCH /keeper/1', { kept: [{}, 1] }],
  ['POST /keeper/1/kept', {}],
  ['PUT /keeper/1/kept', [1]],
]

for (const database of databases) {
  describe(`answers after hooks on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Any
    before(async () => {
      opened = await database.open()
      service = await createService({ database: opened.url, models })
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })
    beforeEach(async () => {
      const { owner, keeper, pet } = service.system.records
      for (const model of [pet, keeper, owner]) await model.destroyMany({ where: { id: { '!=': null } } })
      await owner.create({ id: 1, name: 'hooked' })
      await keeper.create({ id: 1 })
      await pet.create({ id: 1 })
    })

    for (const [line, body] of cases) {
      test(`${line} ${JSON.stringify(body)}`, async () => {
        const [method = '', path = ''] = line.split(' ')
        const headers = { 'Content-Type': 'application/json' }
        const url = (path: string) => `http://localhost${path}`
        const response = await service.fetch(new Request(url(path), { method, headers, body: JSON.stringify(body) }))
        const answer: Any = await response.json()
        assert.ok(response.ok, JSON.stringify(answer))
        for (const record of [answer].flat()) {
          const read = await service.fetch(new Request(url(`/${path.split(/[/?]/)[1]}/${record.id}`)))
          assert.deepEqual(record, await read.json())
          if (record === answer) assert.equal(response.headers.get('etag'), read.headers.get('etag'))
        }
      })
    }
  })
}
