import type { Connection } from './connection.ts'

const lookMs = 1_000
/** Beyond the time that the server itself allows a statement: for the way there and back, and for a slow commit. */
const graceMs = 5_000

/** Gives up connections that do not answer: a network can swallow everything without a word. */
export class Watch {
  readonly #timer: NodeJS.Timeout
  readonly #connections: () => readonly Connection[]
  readonly #silenceMs: number
  readonly #seen = new WeakMap<Connection, { readonly answered: number; readonly sinceMs: number }>()

  constructor(connections: () => readonly Connection[], statementTimeoutMs: number, sweep: () => void) {
    this.#connections = connections
    this.#silenceMs = statementTimeoutMs + graceMs
    this.#timer = setInterval(() => {
      this.#look()
      sweep()
    }, lookMs).unref()
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
