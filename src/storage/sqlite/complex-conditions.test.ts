import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createService, ServiceError } from '../../index.ts'

test('a condition that is too deep for the parser of SQLite is refused with 400', async () => {
  await using service = await createService({
    database: 'sqlite::memory:',
    limits: { maxConditionCost: 100_000 },
    models: { pet: { attributes: { name: { type: 'string' } } } },
  })
  const where = { or: Array.from({ length: 2000 }, (_, index) => ({ name: String(index) })) }
  await assert.rejects(
    service.system.records.pet.find({ where }),
    (error) => error instanceof ServiceError && error.code === 'E_BAD_CRITERIA' && error.status === 400,
  )
})
