export interface TurnsOptions {
  readonly atOnce: number
  /** Whether more may be begun just now; `next` is to be called when that changes. */
  readonly ready: () => boolean
  /** Called after each piece of work. */
  readonly done: () => void
}

/** Work that is begun in the order in which it came, so much of it at once. */
export class Turns {
  readonly #options: TurnsOptions
  readonly #waiting: (() => Promise<void>)[] = []
  #running = 0

  constructor(options: TurnsOptions) {
    this.#options = options
  }

  /** How much has not been begun. */
  get waiting(): number {
    return this.#waiting.length
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#waiting.length === 0
  }

  /** `work` does not reject. */
  add(work: () => Promise<void>): void {
    this.#waiting.push(work)
    this.next()
  }

  next(): void {
    const { atOnce, ready, done } = this.#options
    while (this.#waiting.length > 0 && this.#running < atOnce && ready()) {
      const work = this.#waiting.shift() as () => Promise<void>
      this.#running++
      void work().then(() => {
        this.#running--
        this.next()
        done()
      })
    }
  }

  /** What has not been begun is forgotten. */
  clear(): void {
    this.#waiting.length = 0
  }
}
