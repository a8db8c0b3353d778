import type { Connection } from './connection.ts'

export interface WatchdogTiming {
  readonly checkMs: number
  /** Added to the statement timeout of the server: for the network and for a slow commit. */
  readonly graceMs: number
}

export const defaultWatchdogTiming: WatchdogTiming = { checkMs: 1_000, graceMs: 5_000 }

/** A connection, and after which time the server ends a statement on it. */
export interface WatchedConnection {
  readonly connection: Connection
  readonly statementTimeoutMs: number
}

/** Destroys connections that do not answer: a network can drop packets without an error. */
export class ConnectionWatchdog {
  readonly #timer: NodeJS.Timeout
  readonly #connections: () => readonly WatchedConnection[]
  readonly #graceMs: number
  readonly #seen = new WeakMap<Connection, { readonly answered: number; readonly sinceMs: number }>()

  constructor(parts: {
    connections: () => readonly WatchedConnection[]
    watchdogTiming: WatchdogTiming
    /** Runs with each check. */
    sweep: () => void
  }) {
    this.#connections = parts.connections
    this.#graceMs = parts.watchdogTiming.graceMs
    this.#timer = setInterval(() => {
      this.#check()
      parts.sweep()
    }, parts.watchdogTiming.checkMs).unref()
  }

  #check(): void {
    const nowMs = performance.now()
    for (const { connection, statementTimeoutMs } of this.#connections()) {
      const seen = this.#seen.get(connection)
      if (seen === undefined || connection.pending === 0 || seen.answered !== connection.answered) {
        this.#seen.set(connection, { answered: connection.answered, sinceMs: nowMs })
      } else if (nowMs - seen.sinceMs > statementTimeoutMs + this.#graceMs) {
        connection.destroy(new Error(`No answer for ${Math.round(nowMs - seen.sinceMs)} ms`))
      }
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}
