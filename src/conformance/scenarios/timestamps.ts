import assert from 'node:assert/strict'
import type { JsonObject } from '../../protocol/json.ts'
import { address, column, create, isoForm, record, stored } from '../expect.ts'
import type { Scenario } from '../scenario.ts'

/** `createdAt` and `updatedAt`, which the service sets. */
export const timestamps: readonly Scenario[] = [
  {
    name: 'timestamps: the current time in ISO 8601, UTC, with milliseconds',
    async run(api) {
      const before = new Date(Date.now() - 60_000).toISOString()
      const { createdAt, updatedAt } = await create(api, 'specimen', {})
      assert.match(String(createdAt), isoForm)
      assert.equal(updatedAt, createdAt)
      assert.ok(String(createdAt) > before && String(createdAt) < new Date(Date.now() + 60_000).toISOString())
    },
  },
  {
    name: 'timestamps: numbers when the model declares them so',
    async run(api) {
      const made = await create(api, 'reading', { value: 1 })
      assert.ok(Number.isSafeInteger(made.createdAt) && Math.abs(Number(made.createdAt) - Date.now()) < 60_000)
      assert.equal(made.updatedAt, made.createdAt)
      assert.deepEqual(await stored(api, 'reading', made.id), made)
      const recent = address('/reading', { where: { createdAt: { '>': 1_000_000_000_000 } } })
      assert.deepEqual(column(await api.request('GET', recent), 'id'), [made.id])
    },
  },
  {
    name: 'timestamps: values sent by a client are ignored',
    async run(api) {
      const given = { createdAt: '2001-01-01T00:00:00.000Z', updatedAt: '2001-01-01T00:00:00.000Z' }
      for (const body of [
        given,
        { createdAt: 'never', updatedAt: [] },
        { createdAt: null, updatedAt: null },
      ] as readonly JsonObject[]) {
        const made = await create(api, 'specimen', body)
        assert.ok(String(made.createdAt) > '2020' && String(made.updatedAt) > '2020')
        const updated = record(await api.request('PATCH', `/specimen/${made.id}`, { body }))
        assert.equal(updated.createdAt, made.createdAt)
        assert.ok(String(updated.updatedAt) >= String(made.updatedAt))
      }
      const byGet = record(await api.request('GET', '/specimen/create?createdAt=2001-01-01'), 201)
      assert.ok(String(byGet.createdAt) > '2020')
    },
  },
  {
    name: 'timestamps: can be filtered and sorted by',
    async run(api) {
      const { createdAt } = await create(api, 'specimen', { label: 'a' })
      const at = String(createdAt)
      const cases = [
        [{ createdAt: at }, 1],
        [{ createdAt: { '<=': at } }, 1],
        [{ createdAt: { '<': at } }, 0],
        [{ createdAt: { '>': '2020-01-01' }, updatedAt: { '<': '2999-01-01' } }, 1],
        [{ createdAt: null }, 0],
      ] as const
      for (const [where, count] of cases) {
        const query = address('/specimen', { where: where as JsonObject, sort: 'createdAt DESC, updatedAt' })
        assert.equal(column(await api.request('GET', query), 'id').length, count, query)
      }
    },
  },
  {
    name: 'timestamps: a model may have none',
    async run(api) {
      const made = await create(api, 'order', { by: 'x' })
      assert.ok(!('createdAt' in made) && !('updatedAt' in made))
    },
  },
]
