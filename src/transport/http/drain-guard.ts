import type { ServerResponse } from 'node:http'
import type { ClientObservation, Observe } from '../../support/observation.ts'
import type { WaitingBytes, WaitingClient } from '../../support/waiting-bytes.ts'

export interface DrainOptions {
  /** A client that reads nothing for this long is disconnected. */
  readonly idleTimeoutMs: number
  readonly waiting: WaitingBytes
  readonly observe?: Observe | undefined
}

/** Disconnects a client that does not read its response, so that the response does not stay in memory. */
export class DrainGuard {
  readonly #res: ServerResponse
  readonly #idleTimeoutMs: number
  readonly #client: WaitingClient
  readonly #observe: Observe | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(res: ServerResponse, { idleTimeoutMs, waiting, observe }: DrainOptions) {
    this.#observe = observe
    this.#res = res
    this.#idleTimeoutMs = idleTimeoutMs
    this.#client = waiting.add(() => this.#disconnect('maxWaitingBytes'))
  }

  /** Resolves when the connection takes more, or is closed. `bytes` is what waits for the client until then. */
  drained(bytes: number): Promise<void> {
    this.#wait(bytes)
    return new Promise((resolve) => {
      const resume = (): void => {
        this.#end()
        this.#res.off('drain', resume)
        this.#res.off('close', resume)
        resolve()
      }
      this.#res.on('drain', resume)
      this.#res.on('close', resume)
    })
  }

  /** To be called after the end of the response: guards what the connection has not taken yet. */
  ended(): void {
    const bytes = this.#res.writableLength + (this.#res.socket?.writableLength ?? 0)
    if (bytes === 0 || this.#res.writableFinished) return
    this.#wait(bytes)
    this.#res.once('close', () => this.#end())
  }

  #wait(bytes: number): void {
    this.#client.set(bytes)
    const start = (): void => {
      this.#timer = setTimeout(() => this.#disconnect('streamIdleTimeoutMs'), this.#idleTimeoutMs).unref()
    }
    // A pipelined response has no socket until those before it are sent.
    if (this.#res.socket) start()
    else this.#res.once('socket', start)
  }

  #disconnect(limit: ClientObservation['limit']): void {
    this.#observe?.({ kind: 'clientDisconnected', limit })
    this.#res.destroy()
  }

  #end(): void {
    this.#client.set(0)
    clearTimeout(this.#timer)
  }
}
