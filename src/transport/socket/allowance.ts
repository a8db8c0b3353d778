/** What one client may do in a time: it is spent at once or little by little, and comes back evenly. */
export class Allowance {
  readonly #perSecond: number
  #left: number
  #atMs: number

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond
    this.#left = perSecond
    this.#atMs = nowMs
  }

  /** `exhausted`: this was too much. `abused`: so much that no mistake explains it. */
  spend(nowMs: number): 'granted' | 'exhausted' | 'abused' {
    const regained = ((nowMs - this.#atMs) / 1000) * this.#perSecond
    this.#left = Math.min(this.#perSecond, this.#left + regained)
    this.#atMs = nowMs
    this.#left--
    if (this.#left >= 0) return 'granted'
    return this.#left >= -this.#perSecond ? 'exhausted' : 'abused'
  }
}
