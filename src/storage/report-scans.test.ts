import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asOtherProgram, newFile } from '../../test/support/sqlite.ts'
import { createService } from '../index.ts'

test('a logger receives each kind of query that scans a large table once, with the index that would serve it', async () => {
  const path = newFile()
  const warnings: string[] = []
  const pet = { attributes: { name: { type: 'string' }, age: { type: 'number' } } } as const
  await using service = await createService({
    database: `sqlite:${path}`,
    models: { pet },
    attributes: { createdAt: false, updatedAt: false },
    logger: { info: () => {}, warn: (_, message) => warnings.push(message), error: () => {} },
  })
  const numbers = 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 2000)'
  asOtherProgram(path, `insert into pet ${numbers} select i, 'Pet ' || i, i % 20 from n`)
  const { records } = service.system
  for (let times = 0; times < 2; times++) {
    await records.pet.find({ where: { age: 3 }, sort: 'name DESC' })
    await records.pet.find({ where: { name: { contains: '1' } } })
    await records.pet.find({ where: { id: { '>': 5 } } })
  }
  assert.deepEqual(warnings, [
    'A query of pet reads all rows of pet; an index would serve it: indexes: [["age","name DESC"]]',
    'A query of pet reads all rows of pet; no index can serve it',
  ])
})
