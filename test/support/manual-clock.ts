import type { Clock } from '../../src/support/clock.ts'

/** A clock that stands still between calls of `advance`, and calls periodic work there. */
export class ManualClock implements Clock {
  readonly #work = new Set<() => void>()
  #now = Date.parse('2026-01-05T12:00:00.000Z')

  now(): number {
    return this.#now
  }

  every(_ms: number, work: () => void): Disposable {
    this.#work.add(work)
    return { [Symbol.dispose]: () => void this.#work.delete(work) }
  }

  advance(ms: number): void {
    this.#now += ms
    for (const work of [...this.#work]) work()
  }
}
