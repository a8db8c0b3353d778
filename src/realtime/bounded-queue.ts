/** What waits for somebody who takes one after another. It holds no more than so much, or else a single thing. */
export class BoundedQueue<T> {
  readonly #capacity: number
  #waiting: { readonly item: T; readonly weight: number }[] = []
  #weight = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** False: it is full, and nothing was put into it. */
  push(item: T, weight: number): boolean {
    if (this.#waiting.length > 0 && this.#weight + weight > this.#capacity) return false
    this.#waiting.push({ item, weight })
    this.#weight += weight
    return true
  }

  shift(): T | undefined {
    const first = this.#waiting.shift()
    this.#weight -= first?.weight ?? 0
    return first?.item
  }

  /** Leaves only what is wanted. */
  keep(isWanted: (item: T) => boolean): void {
    this.#waiting = this.#waiting.filter(({ item }) => isWanted(item))
    this.#weight = this.#waiting.reduce((sum, { weight }) => sum + weight, 0)
  }
}
