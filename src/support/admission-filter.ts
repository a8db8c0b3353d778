import { textHash } from './text-hash.ts'

/** Nine keys of ten have a slot of their own. */
const slotsPerKey = 8

/**
 * Says which keys are asked for again, and so are worth a place in a cache. It stores their hashes only: where most keys are asked for
 * once, this takes a tenth of the time of adding and evicting each of them.
 */
export class AdmissionFilter {
  readonly #hashes: Int32Array

  /** `size`: of so many keys most are remembered, and none of two whose hashes share a slot and that are asked for in turn. */
  constructor(size: number) {
    this.#hashes = new Int32Array(2 ** Math.ceil(Math.log2(size * slotsPerKey + 1)))
  }

  /** Whether the key was given before. A key with the same hash as another one counts as that. */
  admits(key: string): boolean {
    const hash = textHash(key)
    const slot = hash & (this.#hashes.length - 1)
    if (this.#hashes[slot] === hash) return true
    this.#hashes[slot] = hash
    return false
  }
}
