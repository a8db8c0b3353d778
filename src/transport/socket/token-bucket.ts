/** A rate limit that allows bursts: a full bucket holds the tokens of one second, and it is refilled evenly. */
export class TokenBucket {
  readonly #perSecond: number
  #tokens: number
  #updatedAtMs: number

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond
    this.#tokens = perSecond
    this.#updatedAtMs = nowMs
  }

  /** `exhausted`: the rate is exceeded. `abused`: it is exceeded by another full bucket, which no correct client does. */
  take(nowMs: number): 'granted' | 'exhausted' | 'abused' {
    const refilled = ((nowMs - this.#updatedAtMs) / 1000) * this.#perSecond
    this.#tokens = Math.min(this.#perSecond, this.#tokens + refilled)
    this.#updatedAtMs = nowMs
    this.#tokens--
    if (this.#tokens >= 0) return 'granted'
    return this.#tokens >= -this.#perSecond ? 'exhausted' : 'abused'
  }
}
