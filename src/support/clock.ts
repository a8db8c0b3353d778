/** Time is handed in, so that tests decide it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls back again and again until it is disposed of. A clock without it leaves that to the system's. */
  every?(ms: number, work: () => void): Disposable
}

export const systemClock = {
  now: () => Date.now(),
  every(ms: number, work: () => void): Disposable {
    const timer = setInterval(work, ms)
    timer.unref()
    return { [Symbol.dispose]: () => clearInterval(timer) }
  },
} satisfies Clock
