import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newFile, SqliteForTest } from '../support/sqlite.ts'

for (const { method, body } of [
  { method: 'PATCH', body: { note: 'y' } },
  { method: 'DELETE', body: undefined },
])
  test(`${method} of many records: between their hooks others have their turn`, async (t) => {
    let turn = 0
    const turns = new Set<number>()
    const see = (): void => void turns.add(turn)
    const before = { update: see, destroy: see }
    const pet = { attributes: { name: { type: 'string' }, note: { type: 'string' } }, hooks: { before } } as const
    await using sqlite = await SqliteForTest.open({ pet }, { path: newFile() })
    await sqlite.ask(
      'POST',
      '/pet',
      Array.from({ length: 40 }, () => ({ name: 'x' })),
    )
    let isAnswered = false
    const count = (): void => {
      turn++
      if (!isAnswered) setImmediate(count)
    }
    count()
    let now = performance.now()
    t.mock.method(performance, 'now', () => (now += 0.5)) // each look takes long
    const { status } = await sqlite.ask(method, '/pet?where={"name":"x"}', body)
    isAnswered = true
    assert.equal(status, 200)
    assert.ok(turns.size > 1, `all hooks ran in ${turns.size} turn`)
  })
