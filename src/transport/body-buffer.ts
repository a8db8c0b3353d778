/**
 * Collects the bytes of a body. A single chunk is not copied; several are copied into one growing buffer, so that a
 * body sent byte by byte takes no more memory than the same body sent at once.
 */
export class BodyBuffer {
  #buffer: Uint8Array | undefined
  #length = 0

  constructor(first?: Uint8Array) {
    if (first) this.add(first)
  }

  get length(): number {
    return this.#length
  }

  add(chunk: Uint8Array): void {
    const length = this.#length + chunk.length
    if (this.#buffer === undefined) {
      this.#buffer = chunk
    } else {
      if (length > this.#buffer.length) this.#grow(length * 2)
      this.#buffer.set(chunk, this.#length)
    }
    this.#length = length
  }

  bytes(): Uint8Array {
    return this.#buffer?.subarray(0, this.#length) ?? new Uint8Array(0)
  }

  #grow(size: number): void {
    const grown = new Uint8Array(size)
    if (this.#buffer) grown.set(this.#buffer.subarray(0, this.#length))
    this.#buffer = grown
  }
}
