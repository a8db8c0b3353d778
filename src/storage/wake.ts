/** Tells listeners that there may be something new; many calls in one turn are one. */
export class Wake {
  readonly #listeners = new Set<() => void>()
  #pending = false

  call(): void {
    if (this.#pending || this.#listeners.size === 0) return
    this.#pending = true
    setImmediate(() => {
      this.#pending = false
      for (const listener of [...this.#listeners]) listener()
    })
  }

  add(listener: () => void): Disposable {
    const own = () => listener()
    this.#listeners.add(own)
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) }
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0
  }
}
