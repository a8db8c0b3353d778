import type { Attribute } from '../model/model.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { Embedded, Records } from './store.ts'

/** The records of several statements as one list, in their order. */
export class JoinedRecords implements Records {
  readonly length: number
  readonly size: number
  readonly next = undefined
  readonly #parts: readonly Records[]
  /** The index of the first record of each part. */
  readonly #starts: readonly number[]

  constructor(parts: readonly Records[]) {
    const starts: number[] = []
    let [length, size] = [0, 0]
    for (const part of parts) {
      starts.push(length)
      length += part.length
      size += part.size
    }
    this.length = length
    this.size = size
    this.#parts = parts
    this.#starts = starts
  }

  values(attribute: Attribute): readonly Json[] {
    return this.#parts.flatMap((part) => part.values(attribute))
  }

  encodeAt(index: number, maxBytes?: number): string {
    const at = this.#partOf(index)
    return (this.#parts[at] as Records).encodeAt(index - (this.#starts[at] as number), maxBytes)
  }

  pieces(index: number, maxBytes?: number): Iterable<string> {
    const at = this.#partOf(index)
    return (this.#parts[at] as Records).pieces(index - (this.#starts[at] as number), maxBytes)
  }

  /** By halves: there may be a part for each record. */
  #partOf(index: number): number {
    let [from, to] = [0, this.#parts.length]
    while (to - from > 1) {
      const middle = (from + to) >> 1
      if ((this.#starts[middle] as number) <= index) from = middle
      else to = middle
    }
    // An empty part begins where the next one does.
    while (this.#parts[from]?.length === 0) from--
    return from
  }

  decode(): readonly JsonObject[] {
    return this.#parts.flatMap((part) => part.decode())
  }

  decodeAt(index: number): JsonObject {
    const at = this.#partOf(index)
    return (this.#parts[at] as Records).decodeAt(index - (this.#starts[at] as number))
  }

  /** The members of all parts are the same. */
  embedded(name: string): Records | undefined {
    return this.#parts[0]?.embedded(name)
  }

  embed(members: readonly Embedded[]): Records {
    return new JoinedRecords(
      this.#parts.map((part, at) => {
        const start = this.#starts[at] as number
        return part.embed(
          members.map(({ name, encode, pieces, decode, size = 0, records }) => ({
            name,
            encode: (index, maxBytes) => encode(start + index, maxBytes),
            ...(pieces && { pieces: (index, maxBytes) => pieces(start + index, maxBytes) }),
            decode: (index) => decode(start + index),
            size: at === 0 ? size : 0,
            ...(records && { records }),
          })),
        )
      }),
    )
  }
}
