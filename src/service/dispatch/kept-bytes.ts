import { EncodedJson } from '../../protocol/json.ts'
import type { ServiceResponse } from '../../protocol/request.ts'
import type { KeptAnswer } from './answer-cache.ts'

/** A place for one answer. */
export interface Kept {
  answer: KeptAnswer | undefined
  /** Of what it was read from, before it was read. */
  versions: string | undefined
  bytes: number
  /** To be called when the answer is dropped. */
  onDrop(): void
}

/** One answer takes at most this part of all. */
const largestPart = 8
/** Of an answer without its text, and of what it is found by. */
const overheadBytes = 1000

/** The answers that are kept, in the order of use: the last ones, as many as there are bytes for. */
export class KeptBytes {
  readonly #maxBytes: number
  readonly #kept = new Set<Kept>()
  /** Of the answers that are kept now. */
  bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  keep(place: Kept, versions: string, answer: KeptAnswer): void {
    if (this.#kept.delete(place)) this.bytes -= place.bytes
    const bytes = bytesOf(answer.response)
    if (bytes > this.#maxBytes / largestPart) {
      clear(place)
      return
    }
    place.answer = answer
    place.versions = versions
    place.bytes = bytes
    this.#kept.add(place)
    this.bytes += bytes
    for (const oldest of this.#kept) {
      if (this.bytes <= this.#maxBytes) return
      this.drop(oldest)
    }
  }

  /** The order is kept once half of the bytes are used: before that, nothing is dropped soon. */
  use(place: Kept): void {
    if (this.bytes * 2 < this.#maxBytes) return
    this.#kept.delete(place)
    this.#kept.add(place)
  }

  drop(place: Kept): void {
    if (!this.#kept.delete(place)) return
    this.bytes -= place.bytes
    clear(place)
  }
}

function clear(place: Kept): void {
  place.answer = undefined
  place.onDrop()
}

/** At most: parts may be joined to a text, and characters may have two bytes in memory. */
function bytesOf({ body }: ServiceResponse): number {
  if (!(body instanceof EncodedJson)) return Number.POSITIVE_INFINITY
  const { parts } = body
  const bytes = parts ? 3 * parts.reduce((sum, { length }) => sum + length, 0) : 2 * body.encoded.length
  return bytes + overheadBytes
}
