import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { WriterFairness } from './writer-fairness.ts'

type Step = number | 'contended'

/** Writes again and again, each write so many milliseconds after the one before; returns which of them paused first. */
function breaths(steps: readonly Step[]): readonly number[] {
  let now = 0
  const turns = new WriterFairness()
  const found: number[] = []
  for (const [index, step] of steps.entries()) {
    if (step === 'contended') {
      turns.contended(now)
      continue
    }
    now += step
    if (turns.next(now) !== undefined) found.push(index)
    turns.endedAt = now
  }
  return found
}

describe('a writer without pauses', () => {
  const each = (ms: number, times: number): readonly Step[] => Array.from({ length: times }, () => ms)
  const cases: readonly (readonly [what: string, steps: readonly Step[], breaths: readonly number[]])[] = [
    ['goes on while it is alone, but for a moment now and then', [5, ...each(1, 250)], [100, 200]],
    ['makes way for one that is known to wait', ['contended', ...each(1, 25)], [10, 20]],
    ['has made way when it had nothing to write', ['contended', ...each(1, 8), 3, ...each(1, 9)], []],
    ['forgets others that have not been met for a second', ['contended', 1, 1000, 3, ...each(1, 90)], []],
  ]
  for (const [what, steps, expected] of cases) {
    test(what, () => assert.deepEqual(breaths(steps), expected))
  }
})
