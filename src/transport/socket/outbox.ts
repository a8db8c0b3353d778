/**
 * Puts what a client is told after what it was answered. An event that comes while a request is under way may be newer
 * than what was read or written: it waits for the answer, or the client would overwrite it with what was before. Requests
 * that begin later make it wait no longer.
 */
export class Outbox<Item> {
  /** Only while there are any: most clients are idle most of the time, and there are many of them. */
  #requests: Set<number> | undefined
  #begun = 0
  #held: { readonly after: number; readonly item: Item }[] = []

  /** Returns what ends the request; to be called when the answer was sent, with what may be sent now. */
  begin(send: (item: Item) => void): () => void {
    const request = ++this.#begun
    this.#requests ??= new Set()
    const requests = this.#requests.add(request)
    return () => {
      if (!requests.delete(request)) return
      if (requests.size === 0) this.#requests = undefined
      const [oldest = Number.POSITIVE_INFINITY] = requests
      let free = 0
      while (free < this.#held.length && (this.#held[free] as { after: number }).after < oldest) free++
      for (const { item } of this.#held.splice(0, free)) send(item)
    }
  }

  /** False: nothing is waited for, it can be sent at once. */
  holds(item: Item): boolean {
    if (!this.#requests) return false
    this.#held.push({ after: this.#begun, item })
    return true
  }

  clear(): void {
    this.#held = []
  }
}
