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
