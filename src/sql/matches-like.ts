import { linearIndexOf } from '../support/linear-index-of.ts'
import { foldCase } from './fold-case.ts'
import { parseLike } from './like.ts'

/** What is between two `%` of a pattern: code points, and undefined for `_`. */
type Segment = readonly (string | undefined)[]

/** The work of one step of a segment with `_`: characters, times the 32-bit words of its state. It takes some milliseconds. */
const stepLength = 1_000_000

/** Whether the text matches the LIKE pattern. */
export const matchesLike = (text: string, pattern: string): boolean =>
  new LikeMatch(text, pattern).advance(Number.POSITIVE_INFINITY) as boolean

/** About the longest time of `matchesLike` in milliseconds: a caller that has less time left must not begin. */
export const longestMatchMs = (text: string, pattern: string): number =>
  pattern.includes('_') ? (text.length * (10 + pattern.length / 10)) / 1_000_000 : 0

/** As `matchesLike`, whatever the letter case. */
export const matchesIlike = (text: string, pattern: string): boolean => matchesLike(foldCase(text), foldCase(pattern))

/** As `matchesLike`, in steps: each call is one, and returns undefined if another one follows. */
export function likeSteps(text: string, pattern: string): () => boolean | undefined {
  const match = new LikeMatch(text, pattern)
  return () => match.advance(stepLength)
}

/** As `matchesIlike`, in steps. */
export const ilikeSteps = (text: string, pattern: string): (() => boolean | undefined) =>
  likeSteps(foldCase(text), foldCase(pattern))

/**
 * Each segment is searched once, after the end of the one before, so the time is proportional to the length of the text, and for
 * segments with `_` also to a 32nd of their length.
 */
class LikeMatch {
  readonly #text: string
  readonly #segments: readonly Segment[]
  /** Where those before `#next` end in the text, or -1. */
  #end: number
  #next = 1
  #search: WildcardSearch | undefined

  constructor(text: string, pattern: string) {
    this.#text = text
    this.#segments = segmentsOf(pattern)
    this.#end = endOfMatch(text, 0, this.#segments[0] as Segment)
  }

  /** The result; undefined if it needs another step. */
  advance(work: number): boolean | undefined {
    const text = this.#text
    const last = this.#segments.length - 1
    if (last === 0) return this.#end === text.length
    for (; this.#next < last && this.#end !== -1; this.#next++) {
      const segment = this.#segments[this.#next] as Segment
      if (segment.includes(undefined)) {
        this.#search ??= new WildcardSearch(text, this.#end, segment)
        const end = this.#search.advance(work)
        if (end === undefined) return undefined
        this.#search = undefined
        this.#end = end
      } else this.#end = endOfFirst(text, this.#end, segment.join(''))
    }
    if (this.#end === -1) return false
    const segment = this.#segments[last] as Segment
    const start = startOfLast(text, segment.length)
    return start >= this.#end && endOfMatch(text, start, segment) === text.length
  }
}

function segmentsOf(pattern: string): Segment[] {
  let segment: (string | undefined)[] = []
  const segments = [segment]
  for (const piece of parseLike(pattern)) {
    if (piece.kind === 'any') {
      segment = []
      segments.push(segment)
    } else if (piece.kind === 'one') segment.push(undefined)
    else for (const character of piece.text) segment.push(character)
  }
  return segments
}

/** The end of the segment that begins at this index, or -1. */
function endOfMatch(text: string, start: number, segment: Segment): number {
  let at = start
  for (const wanted of segment) {
    const code = text.codePointAt(at)
    if (code === undefined) return -1
    if (wanted !== undefined && wanted.codePointAt(0) !== code) return -1
    at += width(code)
  }
  return at
}

function endOfFirst(text: string, from: number, literal: string): number {
  const start = linearIndexOf(text, literal, from)
  return start === -1 ? -1 : start + literal.length
}

/**
 * The bits of the state are the prefixes of the segment that end at the current character (Baeza-Yates and Gonnet): the text is
 * read once, 32 prefixes at a time.
 */
class WildcardSearch {
  readonly #text: string
  readonly #length: number
  readonly #masks: ReadonlyMap<number | undefined, Uint32Array>
  readonly #state: Uint32Array
  #at: number

  constructor(text: string, from: number, segment: Segment) {
    this.#text = text
    this.#length = segment.length
    this.#masks = masksOf(segment)
    this.#state = new Uint32Array(Math.ceil(segment.length / 32))
    this.#at = from
  }

  /** The end of the first match, or -1; undefined if it needs another step. */
  advance(work: number): number | undefined {
    const text = this.#text
    const masks = this.#masks
    const state = this.#state
    const others = masks.get(undefined) as Uint32Array
    const lastWord = state.length - 1
    const lastBit = 1 << ((this.#length - 1) % 32)
    const end = Math.min(text.length, this.#at + Math.ceil(work / state.length))
    let at = this.#at
    while (at < end) {
      const code = text.codePointAt(at) as number
      const mask = masks.get(code) ?? others
      at += width(code)
      let carry = 1
      for (let word = 0; word <= lastWord; word++) {
        const before = state[word] as number
        state[word] = ((before << 1) | carry) & (mask[word] as number)
        carry = before >>> 31
      }
      if (((state[lastWord] as number) & lastBit) !== 0) return at
    }
    this.#at = at
    return at < text.length ? undefined : -1
  }
}

/** For each code point of the segment, and undefined for all others: the places where it may stand, as bits. */
function masksOf(segment: Segment): ReadonlyMap<number | undefined, Uint32Array> {
  const others = new Uint32Array(Math.ceil(segment.length / 32))
  const allow = (mask: Uint32Array, place: number) => {
    mask[place >>> 5] = (mask[place >>> 5] as number) | (1 << (place & 31))
  }
  for (const [place, wanted] of segment.entries()) if (wanted === undefined) allow(others, place)
  const masks = new Map<number | undefined, Uint32Array>([[undefined, others]])
  for (const [place, wanted] of segment.entries()) {
    const code = wanted?.codePointAt(0)
    if (!masks.has(code)) masks.set(code, others.slice())
    if (code !== undefined) allow(masks.get(code) as Uint32Array, place)
  }
  return masks
}

/** The index of the last `count` code points, or -1. */
function startOfLast(text: string, count: number): number {
  let at = text.length
  for (let left = count; left > 0; left--) {
    if (at <= 0) return -1
    at--
    if (at > 0 && width(text.codePointAt(at - 1) as number) === 2) at--
  }
  return at
}

/** UTF-16 code units of a code point. */
const width = (code: number): number => (code > 0xffff ? 2 : 1)
