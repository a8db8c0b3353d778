import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { delayAfter, isFinal } from './backoff.ts'

describe('whatever a run throws, its event is repeated', () => {
  const refusing = new Proxy(
    {},
    {
      get() {
        throw new Error('refused')
      },
    },
  )
  const thrown: readonly (readonly [name: string, error: unknown, isFinal: boolean, delay: number])[] = [
    ['an error', new Error('no answer'), false, 100],
    ['undefined', undefined, false, 100],
    ['null', null, false, 100],
    ['a text', 'no answer', false, 100],
    ['retry: false', { retry: false }, true, 100],
    ['a longer delay', { retryAfterMs: 5_000 }, false, 5_000],
    ['a shorter delay', { retryAfterMs: 5 }, false, 100],
    ['a delay that is not a number', { retryAfterMs: Number.NaN }, false, 100],
    ['a delay without an end', { retryAfterMs: Number.POSITIVE_INFINITY }, false, 3_600_000],
    ['an object that throws when it is read', refusing, false, 100],
  ]
  for (const [name, error, final, delay] of thrown) {
    test(name, () => {
      assert.equal(isFinal(error), final)
      assert.equal(delayAfter(1, 100, error, 0), delay)
    })
  }
})
