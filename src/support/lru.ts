/**
 * A bounded cache that evicts the least recently used entry. The insertion order of a Map is the order of use; it is
 * maintained only once the cache is full, because nothing is evicted before.
 */
export class Lru<K, V> {
  readonly #entries = new Map<K, V>()
  readonly #size: number

  constructor(size: number) {
    this.#size = size
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined && this.#entries.size >= this.#size) {
      this.#entries.delete(key)
      this.#entries.set(key, value)
    }
    return value
  }

  set(key: K, value: V): void {
    if (this.#entries.size >= this.#size && !this.#entries.has(key)) {
      this.#entries.delete(this.#entries.keys().next().value as K)
    }
    this.#entries.set(key, value)
  }
}
