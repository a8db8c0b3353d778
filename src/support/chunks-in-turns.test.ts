import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { forEachChunkInTurns } from './chunks-in-turns.ts'

describe('chunks are as large as the processor time of the one before allows:', () => {
  const cases: readonly [name: string, count: number, costs: (item: number) => number, sizes: readonly number[]][] = [
    ['none', 0, () => 1, []],
    ['few items', 3, () => 1, [3]],
    ['items that cost nothing', 450, () => 0, [10, 20, 40, 80, 100, 100, 100]],
    ['items that cost an eighth of a millisecond', 150, () => 0.125, [10, 20, 32, 32, 32, 24]],
    ['items that cost more than a chunk may', 13, () => 50, [10, 1, 1, 1]],
    ['costly items, and then others', 33, (item) => (item < 10 ? 1 : 0), [10, 4, 8, 11]],
  ]
  for (const [name, count, costs, sizes] of cases)
    test(name, async () => {
      let now = 0
      const seen: (readonly number[])[] = []
      const items = Array.from({ length: count }, (_, item) => item)
      const work = async (chunk: readonly number[]): Promise<void> => {
        seen.push(chunk)
        for (const item of chunk) now += costs(item)
      }
      await forEachChunkInTurns(items, 100, work, () => now)
      assert.deepEqual(
        seen.map(({ length }) => length),
        sizes,
      )
      assert.deepEqual(seen.flat(), items)
    })
})
