import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createService } from '../index.ts'

const text = { type: 'string' } as const

test('a start names attributes that are no filter in an address, and the condition that is one', async () => {
  await using service = await createService({
    database: 'memory:',
    models: {
      item: { attributes: { name: text, limit: { type: 'number' }, count: { type: 'number' } } },
      plan: { attributes: { select: text, sort: { ...text, hidden: true } } },
    },
  })
  assert.deepEqual(service.warnings, [
    'Attributes with the names of parameters, which are no filter by themselves in an address: item.limit, plan.select. `where` filters by them: ?where={"limit":…}',
  ])
})

test('a start says nothing of other names', async () => {
  const models = { item: { attributes: { name: text, limited: text, upsert: text } } } as const
  await using service = await createService({ database: 'memory:', models })
  assert.deepEqual(service.warnings, [])
})
