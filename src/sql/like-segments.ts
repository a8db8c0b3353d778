import { Lru } from '../support/lru.ts'
import { parseLike } from './like.ts'

/** What is between two `%` of a pattern. */
export type Segment = string | Wildcards

/** A segment with `_`: its code points, undefined for `_`. */
export class Wildcards {
  readonly codes: readonly (number | undefined)[]
  #masks: ReadonlyMap<number | undefined, Uint32Array> | undefined

  constructor(codes: readonly (number | undefined)[]) {
    this.codes = codes
  }

  /** For each code point of the segment, and undefined for all others: the places where it may stand, as bits. */
  get masks(): ReadonlyMap<number | undefined, Uint32Array> {
    this.#masks ??= masksOf(this.codes)
    return this.#masks
  }
}

/** A statement compares each row with the same patterns. At most 130 kB each. */
const maxPatterns = 32
const patterns = new Lru<string, readonly Segment[]>(maxPatterns)

/** At least one; the first and the last may be empty. */
export function segmentsOf(pattern: string): readonly Segment[] {
  let segments = patterns.get(pattern)
  if (segments === undefined) {
    segments = parsed(pattern)
    patterns.set(pattern, segments)
  }
  return segments
}

function parsed(pattern: string): readonly Segment[] {
  let pieces: (string | undefined)[] = []
  const segments = [pieces]
  for (const piece of parseLike(pattern)) {
    if (piece.kind === 'any') {
      pieces = []
      segments.push(pieces)
    } else pieces.push(piece.kind === 'one' ? undefined : piece.text)
  }
  return segments.map((pieces) =>
    pieces.includes(undefined) ? new Wildcards(pieces.flatMap(codesOf)) : pieces.join(''),
  )
}

const codesOf = (piece: string | undefined): readonly (number | undefined)[] =>
  piece === undefined ? [undefined] : Array.from(piece, (character) => character.codePointAt(0))

function masksOf(codes: readonly (number | undefined)[]): ReadonlyMap<number | undefined, Uint32Array> {
  const others = new Uint32Array(Math.ceil(codes.length / 32))
  const allow = (mask: Uint32Array, place: number) => {
    mask[place >>> 5] = (mask[place >>> 5] as number) | (1 << (place & 31))
  }
  for (const [place, code] of codes.entries()) if (code === undefined) allow(others, place)
  const masks = new Map<number | undefined, Uint32Array>([[undefined, others]])
  for (const [place, code] of codes.entries()) {
    if (!masks.has(code)) masks.set(code, others.slice())
    if (code !== undefined) allow(masks.get(code) as Uint32Array, place)
  }
  return masks
}
