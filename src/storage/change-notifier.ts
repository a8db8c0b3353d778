/** Calls listeners after a commit. Calls in one turn of the event loop are combined. */
export class ChangeNotifier {
  readonly #listeners = new Set<() => void>()
  #pending = false
  /** Kept as a value, because a writer asks for it with every commit. */
  hasListeners = false

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
    this.hasListeners = true
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(own)
        this.hasListeners = this.#listeners.size > 0
      },
    }
  }
}
