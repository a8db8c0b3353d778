import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createService } from '../../index.ts'

/* Applications on PostgreSQL declare keys of `bigint` so, because its driver reads them as texts. */
test('a generated key that is a text in Waterline is a big integer', async () => {
  await using service = await createService({
    database: 'memory:',
    compatibility: 'sails',
    attributes: { id: { type: 'string', autoIncrement: true } },
    models: { owner: { attributes: { name: 'string' } }, pet: { attributes: { owner: { model: 'owner' } } } },
  } as never)
  // biome-ignore lint/suspicious/noExplicitAny: the models are those of Waterline
  const { owner, pet } = service.system.records as any
  const { id } = await owner.create({ name: 'Ann' })
  assert.equal(id, '1')
  assert.equal((await pet.create({ owner: id })).owner, '1')
})
