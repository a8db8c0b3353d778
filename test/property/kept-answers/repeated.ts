import { mock } from 'node:test'
import { AnswerCache } from '../../../src/service/dispatch/answer-cache.ts'

/** Counts the answers that are given again without reading, in this process. */
export function countRepeated(): Disposable & { readonly count: number } {
  const { lookup } = AnswerCache.prototype
  let count = 0
  const counted = mock.method(AnswerCache.prototype, 'lookup', function (this: AnswerCache, plan, access) {
    const found = lookup.call(this, plan, access)
    if (found?.answer) count++
    return found
  } satisfies typeof lookup)
  return {
    get count() {
      return count
    },
    [Symbol.dispose]: () => counted.mock.restore(),
  }
}
