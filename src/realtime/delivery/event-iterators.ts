import type { EventIterator } from './event-iterator.ts'

/** The iterators that have begun and have not ended, so that a stop of the service reaches them. */
export class EventIterators {
  readonly #open = new Set<EventIterator>()
  #isStopped = false

  add(iterator: EventIterator): void {
    this.#open.add(iterator)
    if (this.#isStopped) iterator.stop()
  }

  remove(iterator: EventIterator): void {
    this.#open.delete(iterator)
  }

  /** Stops all open iterators, and from now on every new one at once. */
  stop(): void {
    this.#isStopped = true
    for (const iterator of [...this.#open]) iterator.stop()
  }
}
