import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { databases } from '../support/databases.ts'

/* What the answer to a write of many records embeds may take long to find: it is read after the commit then, and the answer is the same. */

const models = {
  pet: {
    attributes: {
      name: { type: 'string' },
      tags: { collection: 'tag', via: 'pets' },
      visits: { collection: 'visit', via: 'pet' },
    },
  },
  visit: { attributes: { note: { type: 'string' }, pet: { model: 'pet' } } },
  tag: { attributes: { label: { type: 'string' }, pets: { collection: 'pet', via: 'tags' } } },
} as const

const parameter = (value: unknown) => encodeURIComponent(JSON.stringify(value))
const populate = parameter({
  pets: { where: { visits: { note: { endsWith: 'e_%e_%' } } }, sort: 'name DESC', limit: 2 },
})

for (const database of databases)
  describe(`on ${database.name}`, { skip: database.missing ?? false }, () => {
    for (const [what, method, path, body] of [
      [
        'changed by a condition',
        'PATCH',
        `/tag?where=${parameter({ id: { '>': 0 } })}&populate=${populate}`,
        { label: 'x' },
      ],
      [
        'in a list',
        'POST',
        `/tag?populate=${populate}`,
        [
          { label: 'a', pets: [1, 2, 3] },
          { label: 'b', pets: [4] },
        ],
      ],
    ] as const)
      test(`records ${what}`, async () => {
        await using opened = await database.open()
        await using service = await createService({ models, database: opened.url, limits: { maxBlockMs: 1 } })
        const { tag, pet, visit } = service.system.records
        const indexes = Array.from({ length: 1_000 }, (_, index) => index)
        await pet.createMany(indexes.map((index) => ({ name: `pet ${index}` })))
        for (let round = 0; round < 5; round++)
          await visit.createMany(indexes.map((index) => ({ note: `${'e'.repeat(20)}e_%e_%`, pet: 1 + index })))
        for (let round = 0; round < 5; round++)
          await tag.create({
            label: 'old',
            pets: indexes.filter((index) => index % 5 === round).map((index) => 1 + index),
          })
        const send = (method: string, path: string, body?: unknown) =>
          service.fetch(
            new Request(`http://localhost${path}`, {
              method,
              headers: { 'Content-Type': 'application/json' },
              body: body === undefined ? null : JSON.stringify(body),
            }),
          )
        const response = await send(method, path, body)
        assert.equal(response.status, method === 'POST' ? 201 : 200)
        const written = (await response.json()) as { id: number; label: string; pets: object[] }[]
        const ids = written.map(({ id }) => id)
        const read = await send('GET', `/tag?where=${parameter({ id: ids })}&sort=id&populate=${populate}`)
        assert.deepEqual(written, await read.json())
        assert.deepEqual(
          [ids.length, ...written.map(({ pets }) => pets.length)],
          method === 'POST' ? [2, 2, 1] : [5, 2, 2, 2, 2, 2],
        )
        assert.deepEqual([...new Set(written.map(({ label }) => label))], method === 'POST' ? ['a', 'b'] : ['x'])
      })
  })
