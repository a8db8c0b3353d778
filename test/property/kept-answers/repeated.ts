import { mock } from 'node:test'
import { AnswerCache } from '../../../src/service/dispatch/answer-cache.ts'

/** Counts the answers that are given again without reading, in this process. */
export function countRepeated(): Disposable & { readonly count: number } {
  const { ask } = AnswerCache.prototype
  let count = 0
  const counted = mock.method(AnswerCache.prototype, 'ask', function (this: AnswerCache, plan, access) {
    const asked = ask.call(this, plan, access)
    if (asked?.answer) count++
    return asked
  } satisfies typeof ask)
  return {
    get count() {
      return count
    },
    [Symbol.dispose]: () => counted.mock.restore(),
  }
}
