/**
 * Numbers the times that this process has asked the system for what has arrived: equal for requests that were reported
 * together. What the system reports had begun to arrive before any of it is handled.
 */
export function currentPoll(): number {
  const { loopCount, events } = performance.nodeTiming.uvMetricsInfo
  // Both only grow. A system that reports very much is asked several times in one turn of the event loop.
  return loopCount + events
}

/**
 * Whether the last look at the database is as good for a request as a new one: its client had begun to send it before that
 * look, so no commit after the look can be the cause of the request, and the answer may be of the moment of the look.
 */
export class LastLook {
  #poll: number | undefined
  #position: string | undefined

  /** False: the caller looks now. `position`: what the answer contains at least; a later one is found by a later look. */
  serves(poll: number | undefined, position: string | undefined): boolean {
    const isLater = poll === undefined || poll !== this.#poll || position !== this.#position || poll !== currentPoll()
    this.#poll = poll
    this.#position = position
    return !isLater
  }
}
