import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from '../../index.ts'

describe('the answers to writes whose results arrive together', () => {
  const cases: readonly (readonly [name: string, headers: Readonly<Record<string, string>>, turns: number])[] = [
    ['with a short body are made in one turn of the event loop', { 'content-length': '65535' }, 1],
    ['with a long body are made in turns of their own', { 'content-length': '65536' }, 3],
    ['with a body of unknown length are made in turns of their own', {}, 3],
  ]
  let now = performance.now()
  for (const [name, headers, expected] of cases) {
    test(name, async (t) => {
      const models = { pet: { attributes: { name: { type: 'string' } } } } as const
      await using service = await createService({ models, database: 'memory:' })
      for (const name of ['a', 'b', 'c']) await service.system.records.pet.create({ name })
      now = Math.max(now, performance.now())
      // Whatever is done takes long: each turn is used.
      t.mock.method(performance, 'now', () => (now += 10))
      let turn = 0
      let next = setImmediate(function count() {
        turn++
        next = setImmediate(count)
      })
      t.after(() => clearImmediate(next))
      const answered = await Promise.all(
        [1, 2, 3].map(async (id) => {
          const request = { method: 'PATCH', path: `/pet/${id}`, query: '', body: { name: 'd' }, headers }
          const { status } = await service.handle({ ...request, site: 'none' })
          assert.equal(status, 200)
          return turn
        }),
      )
      assert.equal(new Set(answered).size, expected, `in the turns ${answered}`)
    })
  }
})
