/** Limits how many holders there are at once. Others wait in the order of `acquire`. */
export class Semaphore {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  #taken = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Resolves when the caller may run. Disposing of the result lets the next one run. */
  async acquire(): Promise<Disposable> {
    if (this.#taken < this.#most) this.#taken++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return { [Symbol.dispose]: () => this.#release() }
  }

  /** The turn goes to the one that came first. */
  #release(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#taken--
  }
}
