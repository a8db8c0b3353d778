/** Where fewer are known, the texts of one page in so many are kept: pages that share no records cost little more. */
const sample = 16
const fewKnown = 0.25

/** How many of the records of the last pages had texts. */
export class KnownShare {
  value = 0
  #pages = 0

  /** Whether the texts of this page are to be kept. */
  isWorthKeeping(): boolean {
    return this.value >= fewKnown || this.#pages++ <= 1 || this.#pages % sample === 0
  }

  learn(length: number, withText: number): void {
    if (length > 0) this.value += (withText / length - this.value) / 4
  }

  forget(): void {
    this.value = 0
  }
}
