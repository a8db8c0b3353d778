import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { applyDifference } from '../../../test/support/live-client.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { differenceOf, encodeDifference, type HeldRow } from './row-difference.ts'

interface TestRow extends HeldRow {
  readonly id: number
}

/** Rows whose digest is their value. */
const rowsOf = (text: string): TestRow[] =>
  text === '' ? [] : text.split(' ').map((part) => ({ id: Number.parseInt(part, 10), digest: part.replace(/\d+/, '') }))

const differenceBetween = (before: readonly TestRow[], after: readonly TestRow[]) =>
  differenceOf(before, after, (earlier, later) => before[earlier]?.digest !== after[later]?.digest)

const recordOf = ({ id, digest }: TestRow): JsonObject => ({ id, value: digest })

function applied(before: readonly TestRow[], after: readonly TestRow[]): readonly JsonObject[] {
  const difference = differenceBetween(before, after)
  const held = before.map(recordOf)
  if (!difference) return held
  const members = encodeDifference(difference, after, (index) => JSON.stringify(recordOf(after[index] as TestRow)))
  return applyDifference(held, JSON.parse(`{${members.slice(1)}}`))
}

describe('the difference of two lists of rows', () => {
  const cases: readonly (readonly [before: string, after: string, expected: object | undefined])[] = [
    ['', '', undefined],
    ['1a 2a', '1a 2a', undefined],
    ['1a 2a', '2a', { leave: [1], change: [], enter: [], move: [] }],
    ['1a', '1b', { leave: [], change: [0], enter: [], move: [] }],
    ['1a', '2a 1a', { leave: [], change: [], enter: [0], move: [] }],
    ['1a 2a 3a', '3a 1a 2a', { leave: [], change: [], enter: [], move: [0] }],
    ['1a 2a 3a 4a', '2a 3b 5a 1a', { leave: [4], change: [1], enter: [2], move: [3] }],
    ['1a 2a', '2b 1b', { leave: [], change: [0, 1], enter: [], move: [0] }],
  ]
  for (const [before, after, expected] of cases)
    test(`from "${before}" to "${after}"`, () => {
      assert.deepEqual(differenceBetween(rowsOf(before), rowsOf(after)), expected)
      assert.deepEqual(applied(rowsOf(before), rowsOf(after)), rowsOf(after).map(recordOf))
    })

  test('applied to the earlier list gives the later one, for random lists', () => {
    let state = 7
    const random = (below: number): number => {
      state = (state * 48_271) % 2_147_483_647
      return state % below
    }
    for (let round = 0; round < 2_000; round++) {
      const list = (): TestRow[] => {
        const ids = new Set(Array.from({ length: random(12) }, () => random(14)))
        return [...ids].map((id) => ({ id, digest: 'ab'[random(2)] as string }))
      }
      const [before, after] = [list(), list()]
      assert.deepEqual(applied(before, after), after.map(recordOf))
    }
  })

  test('moves as few rows as possible', () => {
    const before = Array.from({ length: 100 }, (_, id) => ({ id, digest: '' }))
    const after = [...before.slice(1, 60), before[0] as TestRow, ...before.slice(60)]
    assert.equal(differenceBetween(before, after)?.move.length, 1)
  })
})
