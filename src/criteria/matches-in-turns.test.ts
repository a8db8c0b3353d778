import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineModels } from '../model/define.ts'
import type { Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import { EventLoopTurn } from '../support/event-loop-turn.ts'
import { defaultLimits } from '../support/limits.ts'
import { matches } from './matches.ts'
import { hasLongText, matchesInTurns } from './matches-in-turns.ts'
import { parseWhere } from './parse-where.ts'

const pet = defineModels({ pet: { attributes: { name: { type: 'string' }, age: { type: 'number' } } } }).get(
  'pet',
) as Model
const record = { id: 1, name: 'x'.repeat(60_000), age: 3 }

for (const [raw, comparisons] of [
  [{ age: 3 }, 1],
  [{ age: 3, name: { contains: 'y' } }, 2],
  [{ age: 4, name: { contains: 'x' } }, 1],
  [{ or: [{ name: { contains: 'y' } }, { name: { like: '%x' } }, { age: 3 }] }, 2],
  [{ not: { or: [{ name: { contains: 'y' } }, { age: 4 }] } }, 2],
  [{ not: { age: 3 }, or: [] }, 1],
] as const satisfies readonly (readonly [Json, number])[]) {
  test(`${JSON.stringify(raw)} is decided by ${comparisons} comparisons, each of which may wait`, async (t) => {
    const where = parseWhere(raw, pet, defaultLimits)
    t.mock.getter(EventLoopTurn.prototype, 'isUsed', () => true)
    const { mock } = t.mock.method(EventLoopTurn.prototype, 'next', async () => {})
    assert.equal(await matchesInTurns(where, record), matches(where, record))
    assert.equal(mock.callCount(), comparisons)
  })
}

for (const operator of ['like', 'ilike']) {
  for (const [text, isMatch] of [
    ['a'.repeat(200_000), false],
    [`${'a'.repeat(200_000)}b`, true],
    [null, false],
  ] as const) {
    test(`a long pattern of ${operator} and ${text ? `${text.length} characters` : 'null'}: each step may wait`, async (t) => {
      const where = parseWhere({ name: { [operator]: `%${'_'.repeat(990)}b%` } }, pet, defaultLimits)
      t.mock.getter(EventLoopTurn.prototype, 'isUsed', () => true)
      const { mock } = t.mock.method(EventLoopTurn.prototype, 'next', async () => {})
      assert.equal(await matchesInTurns(where, { id: 1, name: text }), isMatch)
      assert.equal(mock.callCount(), text ? 7 : 1)
    })
  }
}

test('only long texts count, not lists that contain them', () => {
  assert.ok(hasLongText(record))
  assert.ok(!hasLongText({ ...record, name: 'x' }))
  assert.ok(!hasLongText({ id: 1, name: null, age: ['x'.repeat(60_000)] }))
  assert.ok(!hasLongText(undefined))
})
