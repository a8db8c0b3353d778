import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asOtherProgram, newFile } from '../../test/support/sqlite.ts'
import { createService } from '../index.ts'

/** 2,000 records with 1,000 ages, and the warnings of the service. */
async function openPets(definition: object = {}) {
  const path = newFile()
  const warnings: string[] = []
  const pet = { attributes: { name: { type: 'string' }, age: { type: 'number' } }, ...definition } as const
  const service = await createService({
    database: `sqlite:${path}`,
    models: { pet },
    attributes: { createdAt: false, updatedAt: false },
    logger: { info: () => {}, warn: (_, message) => warnings.push(message), error: () => {} },
  })
  const numbers = 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 2000)'
  asOtherProgram(path, `insert into pet ${numbers} select i, 'Pet ' || i, i / 2 from n`)
  const { pet: records } = service.system.records
  return { records, warnings, [Symbol.asyncDispose]: () => service.close() }
}

test('a logger receives each kind of query that scans a large table once, with the index that would serve it', async () => {
  await using pets = await openPets()
  for (let times = 0; times < 2; times++) {
    await pets.records.find({ where: { age: 3 }, sort: 'name DESC' })
    await pets.records.find({ where: { name: { contains: '1' } } })
    await pets.records.find({ where: { id: { '>': 5 } } })
  }
  assert.deepEqual(pets.warnings, [
    'A query of pet reads all rows of pet; an index would serve it: indexes: [["age","name DESC"]]',
    'A query of pet reads all rows of pet; no index can serve it',
  ])
})

test('an index serves an order from either end, also where equal records are sorted', async () => {
  await using pets = await openPets({ indexes: [['age'], ['age', 'name DESC']] })
  const { data } = await pets.records.find({ sort: 'age DESC', limit: 4 })
  assert.deepEqual(
    data.map(({ id }) => id),
    [2000, 1998, 1999, 1996],
  )
  const sorts = ['age', 'age DESC', ['age', 'name DESC'], ['age DESC', 'name'], ['age DESC', 'id DESC']] as const
  for (const sort of sorts) {
    const { next } = await pets.records.find({ sort, limit: 150 })
    await pets.records.find({ sort, limit: 150, cursor: next ?? '' })
    await pets.records.find({ sort, where: { age: 3 } })
  }
  assert.deepEqual(pets.warnings, [])
})
