import type { Connection } from './connection.ts'

export interface Silence {
  readonly lookMs: number
  /** Beyond the time that the server itself allows a statement: for the way there and back, and for a slow commit. */
  readonly graceMs: number
}

export const longestSilence: Silence = { lookMs: 1_000, graceMs: 5_000 }

/** Gives up connections that do not answer: a network can swallow everything without a word. */
export class Watch {
  readonly #timer: NodeJS.Timeout
  readonly #connections: () => readonly Connection[]
  readonly #silenceMs: number
  readonly #seen = new WeakMap<Connection, { readonly answered: number; readonly sinceMs: number }>()

  constructor(parts: {
    connections: () => readonly Connection[]
    statementTimeoutMs: number
    silence: Silence
    /** Runs now and then. */
    sweep: () => void
  }) {
    this.#connections = parts.connections
    this.#silenceMs = parts.statementTimeoutMs + parts.silence.graceMs
    this.#timer = setInterval(() => {
      this.#look()
      parts.sweep()
    }, parts.silence.lookMs).unref()
  }

  #look(): void {
    const nowMs = performance.now()
    for (const connection of this.#connections()) {
      const seen = this.#seen.get(connection)
      if (seen === undefined || connection.pending === 0 || seen.answered !== connection.answered) {
        this.#seen.set(connection, { answered: connection.answered, sinceMs: nowMs })
      } else if (nowMs - seen.sinceMs > this.#silenceMs) {
        connection.destroy(new Error(`No answer for ${Math.round(nowMs - seen.sinceMs)} ms`))
      }
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}
