/** Bounds how many are at work at once; further ones wait in the order in which they came. */
export class Semaphore {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  #taken = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Resolves when it is the caller's turn, which ends when the result is disposed of. */
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
