import { EncodedJson } from '../../protocol/json.ts'
import type { ServiceResponse } from '../../protocol/request.ts'
import type { KeptAnswer } from './answer-cache.ts'

/** What is kept of one answer. */
export interface AnswerEntry {
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
  readonly #kept = new Set<AnswerEntry>()
  /** Of the answers that are kept now. */
  bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  keep(entry: AnswerEntry, versions: string, answer: KeptAnswer): void {
    if (this.#kept.delete(entry)) this.bytes -= entry.bytes
    const bytes = bytesOf(answer.response)
    if (bytes > this.#maxBytes / largestPart) {
      clear(entry)
      return
    }
    entry.answer = answer
    entry.versions = versions
    entry.bytes = bytes
    this.#kept.add(entry)
    this.bytes += bytes
    for (const oldest of this.#kept) {
      if (this.bytes <= this.#maxBytes) return
      this.drop(oldest)
    }
  }

  /** The order is kept once half of the bytes are used: before that, nothing is dropped soon. */
  use(entry: AnswerEntry): void {
    if (this.bytes * 2 < this.#maxBytes) return
    this.#kept.delete(entry)
    this.#kept.add(entry)
  }

  drop(entry: AnswerEntry): void {
    if (!this.#kept.delete(entry)) return
    this.bytes -= entry.bytes
    clear(entry)
  }
}

function clear(entry: AnswerEntry): void {
  entry.answer = undefined
  entry.onDrop()
}

/** At most: parts may be joined to a text, and characters may have two bytes in memory. */
function bytesOf({ body }: ServiceResponse): number {
  if (!(body instanceof EncodedJson)) return Number.POSITIVE_INFINITY
  const { parts } = body
  const bytes = parts ? 3 * parts.reduce((sum, { length }) => sum + length, 0) : 2 * body.encoded.length
  return bytes + overheadBytes
}
