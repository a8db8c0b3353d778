/**
 * Sends events after the responses that precede them. An event that arrives while a request is executed may be newer
 * than the data of the response, and a client that received it first would overwrite it with the older state. The event
 * is held until all requests that were running when it arrived have their response; later requests do not delay it.
 */
export class DeferredEvents<Item> {
  /** Allocated only while requests are running: most of a large number of clients are idle. */
  #running: Set<number> | undefined
  #lastRequest = 0
  #held: { readonly after: number; readonly item: Item }[] = []

  /** Returns a function to be called after the response was sent: it passes on to `send` all items no longer held. */
  beginRequest(send: (item: Item) => void): () => void {
    const request = ++this.#lastRequest
    this.#running ??= new Set()
    const running = this.#running.add(request)
    return () => {
      if (!running.delete(request)) return
      if (running.size === 0) this.#running = undefined
      const [oldest = Number.POSITIVE_INFINITY] = running
      let released = 0
      while (released < this.#held.length && (this.#held[released] as { after: number }).after < oldest) released++
      for (const { item } of this.#held.splice(0, released)) send(item)
    }
  }

  /** False: no request is running, and the item can be sent at once. */
  defer(item: Item): boolean {
    if (!this.#running) return false
    this.#held.push({ after: this.#lastRequest, item })
    return true
  }

  clear(): void {
    this.#held = []
  }
}
