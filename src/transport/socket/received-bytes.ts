import type { Readable } from 'node:stream'
import type { WaitingClient } from '../../support/waiting-bytes.ts'
import type { SessionOptions } from './engine-session.ts'

/** Most messages arrive in one piece. */
const countedBytes = 65_536

/** The bytes of a message that has not arrived completely. They count in the budget of all connections. */
export class ReceivedBytes {
  readonly #options: SessionOptions
  readonly #terminate: () => void
  #bytes = 0
  #client: WaitingClient | undefined

  /** `connection`: a WebSocket, or a request of long polling. */
  constructor(connection: Readable, options: SessionOptions, terminate: () => void) {
    this.#options = options
    this.#terminate = terminate
    // Before the message is taken out of the bytes. `ws` keeps no more than one message.
    connection.prependListener('data', (chunk: Buffer) => {
      this.#bytes = Math.min(this.#bytes + chunk.length, options.limits.maxMessageBytes)
      if (this.#bytes > countedBytes) this.#count()
    })
    connection.once('close', () => this.reset())
  }

  /** To be called with each message. */
  reset(): void {
    this.#bytes = 0
    this.#client?.set(0)
    this.#client = undefined
  }

  #count(): void {
    const { waiting, observe } = this.#options
    this.#client ??= waiting.add(() => {
      observe?.({ kind: 'clientDisconnected', limit: 'maxWaitingBytes' })
      this.#terminate()
    })
    this.#client.set(this.#bytes)
  }
}
