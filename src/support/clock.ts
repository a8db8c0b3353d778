/** Passed in, so that tests control the time. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls `work` periodically until disposed. When absent, the system clock's is used. */
  every?(ms: number, work: () => void): Disposable
}

export const systemClock = {
  now: Date.now,
  every(ms: number, work: () => void): Disposable {
    const timer = setInterval(work, ms)
    timer.unref()
    return { [Symbol.dispose]: () => clearInterval(timer) }
  },
} satisfies Clock

/** By the clock or, where it has no `every`, by the system's. */
export const callEvery = (clock: Clock, ms: number, work: () => void): Disposable =>
  clock.every ? clock.every(ms, work) : systemClock.every(ms, work)
