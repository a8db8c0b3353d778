/** A bounded cache: the entry that was not used for longest goes first. A Map keeps the order of insertion for us. */
export class Lru<K, V> {
  readonly #entries = new Map<K, V>()
  readonly #size: number

  constructor(size: number) {
    this.#size = size
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)
  }

  set(key: K, value: V): void {
    if (this.#entries.size >= this.#size) this.#entries.delete(this.#entries.keys().next().value as K)
    this.#entries.set(key, value)
  }
}
