/**
 * The number of the current poll of the event loop. It is equal for requests that were reported by one poll: each of them had
 * begun to arrive before any of them is handled.
 */
export function currentPoll(): number {
  const { loopCount, events } = performance.nodeTiming.uvMetricsInfo
  // Both only grow. A system that reports very much is asked several times in one turn of the event loop.
  return loopCount + events
}

/**
 * Decides whether a request needs a new check of the database, or may use the last one. It may if its client had begun to send it
 * before that check: no later commit can be known to the client, so the answer may have the state of the check.
 */
export class LastCheck {
  #poll: number | undefined
  #position: string | undefined

  /**
   * Returns false if the caller must check again. `position`: the position that the answer will name; the check must not be
   * older.
   */
  serves(poll: number | undefined, position: string | undefined): boolean {
    const isLater = poll === undefined || poll !== this.#poll || position !== this.#position || poll !== currentPoll()
    this.#poll = poll
    this.#position = position
    return !isLater
  }
}
