import { linearIndexOf } from '../support/linear-index-of.ts'
import { foldCase } from './fold-case.ts'
import { type Segment, segmentsOf, type Wildcards } from './like-segments.ts'

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
      if (typeof segment === 'string') this.#end = endOfFirst(text, this.#end, segment)
      else {
        this.#search ??= new WildcardSearch(text, this.#end, segment)
        const end = this.#search.advance(work)
        if (end === undefined) return undefined
        this.#search = undefined
        this.#end = end
      }
    }
    if (this.#end === -1) return false
    const segment = this.#segments[last] as Segment
    const start = startOfLast(text, segment)
    return start >= this.#end && endOfMatch(text, start, segment) === text.length
  }
}

/** The end of the segment that begins at this index, or -1. */
function endOfMatch(text: string, start: number, segment: Segment): number {
  if (typeof segment === 'string') return text.startsWith(segment, start) ? start + segment.length : -1
  let at = start
  for (const wanted of segment.codes) {
    const code = text.codePointAt(at)
    if (code === undefined || (wanted !== undefined && wanted !== code)) return -1
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
  readonly #segment: Wildcards
  readonly #state: Uint32Array
  #at: number

  constructor(text: string, from: number, segment: Wildcards) {
    this.#text = text
    this.#segment = segment
    this.#state = new Uint32Array(Math.ceil(segment.codes.length / 32))
    this.#at = from
  }

  /** The end of the first match, or -1; undefined if it needs another step. */
  advance(work: number): number | undefined {
    const text = this.#text
    const state = this.#state
    const { codes, masks } = this.#segment
    const others = masks.get(undefined) as Uint32Array
    const lastWord = state.length - 1
    const lastBit = 1 << ((codes.length - 1) % 32)
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

/** Where the last characters begin that a segment may match, or -1. */
function startOfLast(text: string, segment: Segment): number {
  if (typeof segment === 'string') return text.length - segment.length
  let at = text.length
  for (let left = segment.codes.length; left > 0; left--) {
    if (at <= 0) return -1
    at--
    if (at > 0 && width(text.codePointAt(at - 1) as number) === 2) at--
  }
  return at
}

/** UTF-16 code units of a code point. */
const width = (code: number): number => (code > 0xffff ? 2 : 1)
