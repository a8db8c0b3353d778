/** A connection whose client has not yet read what was sent to it, or not yet sent the rest of a body. */
export interface WaitingClient {
  /** Sets how many bytes wait for the client. Fewer than before mean that it reads. */
  set(bytes: number): void
}

/**
 * Counts the bytes that wait for clients, over all connections: for them to read, or to send the rest. Past the budget, the
 * clients that have read nothing, or have begun to send, for the longest time are disconnected, until the others fit.
 */
export class WaitingBytes {
  readonly maxBytes: number
  /** The clients that bytes wait for, beginning with the one that has read nothing for the longest time. */
  readonly #waiting = new Map<WaitingClient, { bytes: number; readonly disconnect: () => void }>()
  #total = 0
  #executing = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  get total(): number {
    return this.#total
  }

  /**
   * Counts the memory of a body while its request is executed, until `giveBack`. Returns false if the budget is exceeded. The
   * clients of such requests are not disconnected, because a write would be executed nevertheless.
   */
  take(bytes: number): boolean {
    if (this.#executing + bytes > this.maxBytes) return false
    this.#executing += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.#executing -= bytes
  }

  /** `disconnect` must release the bytes; it is called at most once, and `set` has no effect afterwards. */
  add(disconnect: () => void): WaitingClient {
    let isDisconnected = false
    const entry = {
      bytes: 0,
      disconnect: () => {
        isDisconnected = true
        disconnect()
      },
    }
    const client: WaitingClient = {
      set: (bytes) => {
        if (isDisconnected) return
        const before = entry.bytes
        entry.bytes = bytes
        this.#total += bytes - before
        if (bytes < before) this.#waiting.delete(client)
        if (bytes > 0) this.#waiting.set(client, entry)
        if (bytes > before) this.#disconnectSlowest()
      },
    }
    return client
  }

  #disconnectSlowest(): void {
    for (const [client, { bytes, disconnect }] of this.#waiting) {
      if (this.#total <= this.maxBytes) return
      this.#waiting.delete(client)
      this.#total -= bytes
      disconnect()
    }
  }
}
