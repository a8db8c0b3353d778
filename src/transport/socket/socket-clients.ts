import type { Handshake } from '../../protocol/request.ts'
import type { EngineSession } from './engine-session.ts'
import { SocketClient } from './socket-client.ts'
import type { SocketContext } from './socket-context.ts'

const heartbeatEveryMs = 1_000

/** The connected clients of a server, with their heartbeats. */
export class SocketClients {
  readonly #context: SocketContext
  readonly #clients = new Set<SocketClient>()
  #timer: NodeJS.Timeout | undefined
  #stopping: PromiseWithResolvers<void> | undefined

  constructor(context: SocketContext) {
    this.#context = context
  }

  get size(): number {
    return this.#clients.size
  }

  get isFull(): boolean {
    return this.#stopping !== undefined || this.#clients.size >= this.#context.limits.maxSockets
  }

  open(session: EngineSession, handshake: Handshake): void {
    const client = new SocketClient(this.#context, { session, handshake, onClose: () => this.#remove(client) })
    this.#clients.add(client)
    this.#timer ??= setInterval(() => this.heartbeat(), heartbeatEveryMs).unref()
    client.open()
  }

  /** Sends the heartbeats that are due and terminates silent connections. */
  heartbeat(): void {
    const nowMs = this.#context.clock.now()
    for (const client of [...this.#clients]) client.heartbeat(nowMs)
  }

  /** Accepts no more clients, lets running requests finish within `stopTimeoutMs`, and closes every session. */
  stop(): Promise<void> {
    if (this.#stopping) return this.#stopping.promise
    this.#stopping = Promise.withResolvers()
    if (this.#clients.size === 0) this.#stopping.resolve()
    const deadline = setTimeout(() => {
      for (const client of [...this.#clients]) client.terminate()
    }, this.#context.limits.stopTimeoutMs)
    for (const client of [...this.#clients]) client.drain()
    return this.#stopping.promise.finally(() => clearTimeout(deadline))
  }

  #remove(client: SocketClient): void {
    this.#clients.delete(client)
    if (this.#clients.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#stopping?.resolve()
  }
}
