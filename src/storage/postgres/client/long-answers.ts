import { Lru } from '../../../support/lru.ts'
import type { QueryRequest } from './text-query.ts'

/** Bytes of values. A connection answers in order, so that statements behind a longer answer wait for it. */
export const longAnswer = 65_536
const keptTexts = 1_000
/** A statement whose answers are no longer long shares connections with others again after this time. */
const longMs = 60_000

/** The statements that have had a long answer recently. */
export class LongAnswers {
  readonly #until = new Lru<string, number>(keptTexts)
  #isEmpty = true

  has(text: string): boolean {
    return !this.#isEmpty && (this.#until.get(text) ?? 0) > performance.now()
  }

  add(text: string): void {
    this.#isEmpty = false
    this.#until.set(text, performance.now() + longMs)
  }

  /** `resolve`, and the length of the answer is noted, as far as the request has a budget to which it is counted. */
  noting<T>({ text, budget }: QueryRequest, resolve: (rows: T) => void): (rows: T) => void {
    if (budget === undefined) return resolve
    const before = budget.left
    return (rows) => {
      if (before - budget.left > longAnswer) this.add(text)
      resolve(rows)
    }
  }
}
