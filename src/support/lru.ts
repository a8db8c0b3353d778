/**
 * A bounded cache: the entry that was not used for longest goes first. A Map keeps the order for us; it is kept up only
 * once the cache is full, because before that nothing goes.
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
