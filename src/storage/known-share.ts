/**
 * If fewer than `fewKnown` of the records have a cached text, only one page in `sample` is cached: pages that share no records
 * then cost little more.
 */
const sample = 16
const fewKnown = 0.25

/** The share of records in recent pages that had a cached text. */
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
