import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ClientObservation } from '../../support/observation.ts'
import type { WaitingClient } from '../../support/waiting-bytes.ts'
import type { SessionOptions } from './engine-session.ts'

/**
 * The bytes that wait for one client. They count in the budget of all connections, and the session is terminated when
 * the client reads nothing for `streamIdleTimeoutMs`. Exists only while bytes wait: most clients read at once.
 */
export class UnreadBytes {
  readonly #waiting: WaitingClient
  readonly #stopTimer: () => void

  /** `connection`: the WebSocket they are written to; absent with long polling. */
  constructor(connection: Duplex | undefined, options: SessionOptions, terminate: () => void) {
    const { limits, waiting, observe } = options
    const disconnect = (limit: ClientObservation['limit']): void => {
      observe?.({ kind: 'clientDisconnected', limit })
      terminate()
    }
    const onTimeout = (): void => disconnect('streamIdleTimeoutMs')
    this.#waiting = waiting.add(() => disconnect('maxWaitingBytes'))
    if (connection) {
      // Node restarts this timer whenever the client has read a part, which cannot be observed otherwise.
      const socket = connection as Socket
      socket.setTimeout(limits.streamIdleTimeoutMs, onTimeout)
      this.#stopTimer = () => socket.setTimeout(0, onTimeout)
    } else {
      const timer = setTimeout(onTimeout, limits.streamIdleTimeoutMs).unref()
      this.#stopTimer = () => clearTimeout(timer)
    }
  }

  set(bytes: number): void {
    this.#waiting.set(bytes)
  }

  [Symbol.dispose](): void {
    this.#waiting.set(0)
    this.#stopTimer()
  }
}
