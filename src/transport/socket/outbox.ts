/**
 * Puts what a client is told after what it was answered. An event that comes while a reading is under way may be newer
 * than what was read: it waits for the answer, or the client would overwrite it with what was before. Readings that
 * begin later make it wait no longer.
 */
export class Outbox<Item> {
  /** Only while there are any: most clients are idle most of the time, and there are many of them. */
  #readings: Set<number> | undefined
  #begun = 0
  #held: { readonly after: number; readonly item: Item }[] = []

  /** Returns what ends the reading; to be called when the answer was sent, with what may be sent now. */
  begin(send: (item: Item) => void): () => void {
    const reading = ++this.#begun
    this.#readings ??= new Set()
    const readings = this.#readings.add(reading)
    return () => {
      if (!readings.delete(reading)) return
      if (readings.size === 0) this.#readings = undefined
      const [oldest = Number.POSITIVE_INFINITY] = readings
      let free = 0
      while (free < this.#held.length && (this.#held[free] as { after: number }).after < oldest) free++
      for (const { item } of this.#held.splice(0, free)) send(item)
    }
  }

  /** False: nothing is waited for, it can be sent at once. */
  holds(item: Item): boolean {
    if (!this.#readings) return false
    this.#held.push({ after: this.#begun, item })
    return true
  }

  clear(): void {
    this.#held = []
  }
}
