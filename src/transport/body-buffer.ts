/** A longer chunk is kept without copying it. */
const copiedLength = 16_384
const empty = new Uint8Array(0)

/**
 * Collects the bytes of a body. A single chunk is not copied; several are joined once, at the end. Short chunks are copied into a
 * growing buffer as they arrive, so that a body that is sent byte by byte takes no more memory than one that is sent at once.
 */
export class BodyBuffer {
  readonly #parts: Uint8Array[] = []
  #length = 0
  /** The short chunks since the last part. */
  #tail: Uint8Array = empty
  #tailLength = 0

  constructor(first?: Uint8Array) {
    if (first) this.add(first)
  }

  get length(): number {
    return this.#length
  }

  add(chunk: Uint8Array): void {
    if (chunk.length > copiedLength || this.#length === 0) {
      this.#endTail()
      this.#parts.push(chunk)
    } else this.#append(chunk)
    this.#length += chunk.length
  }

  bytes(): Uint8Array {
    this.#endTail()
    const [first = empty] = this.#parts
    return this.#parts.length > 1 ? Buffer.concat(this.#parts, this.#length) : first
  }

  #append(chunk: Uint8Array): void {
    const length = this.#tailLength + chunk.length
    if (length > this.#tail.length) {
      const grown = new Uint8Array(length * 2)
      grown.set(this.#tail.subarray(0, this.#tailLength))
      this.#tail = grown
    }
    this.#tail.set(chunk, this.#tailLength)
    this.#tailLength = length
  }

  #endTail(): void {
    if (this.#tailLength > 0) this.#parts.push(this.#tail.subarray(0, this.#tailLength))
    this.#tail = empty
    this.#tailLength = 0
  }
}
