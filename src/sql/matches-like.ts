import { linearIndexOf } from '../support/linear-index-of.ts'
import { foldCase } from './fold-case.ts'
import { parseLike } from './like.ts'

/** What is between two `%` of a pattern: code points, and undefined for `_`. */
type Segment = readonly (string | undefined)[]

/** The work of one step of a segment with `_`: characters, times the 32-bit words of its state. */
const stepLength = 1_000_000

/**
 * Whether the text matches the LIKE pattern. Each segment is searched once, after the end of the one before, so the time is
 * proportional to the length of the text, and for segments with `_` also to a 32nd of their length.
 */
export const matchesLike = (text: string, pattern: string): boolean => resultOf(likeSteps(text, pattern))

/** As `matchesLike`, in steps of a few milliseconds. */
export function* likeSteps(text: string, pattern: string): Generator<undefined, boolean> {
  const segments = segmentsOf(pattern)
  const first = segments.shift() as Segment
  const last = segments.pop()
  let end = endOfMatch(text, 0, first)
  if (last === undefined) return end === text.length
  for (const segment of segments) {
    if (end === -1) return false
    end = segment.includes(undefined)
      ? yield* endOfFirstWithWildcards(text, end, segment)
      : endOfFirst(text, end, segment.join(''))
  }
  const start = startOfLast(text, last.length)
  return end !== -1 && start >= end && endOfMatch(text, start, last) === text.length
}

/** About the longest time of `matchesLike` in milliseconds: a caller that has less time left must not begin. */
export const longestMatchMs = (text: string, pattern: string): number =>
  pattern.includes('_') ? (text.length * (10 + pattern.length / 10)) / 1_000_000 : 0

/** As `matchesLike`, whatever the letter case. */
export const matchesIlike = (text: string, pattern: string): boolean => resultOf(ilikeSteps(text, pattern))

export const ilikeSteps = (text: string, pattern: string): Generator<undefined, boolean> =>
  likeSteps(foldCase(text), foldCase(pattern))

function resultOf<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
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
 * The bits of `state` are the prefixes of the segment that end at the current character (Baeza-Yates and Gonnet): the text is
 * read once, 32 prefixes at a time.
 */
function* endOfFirstWithWildcards(text: string, from: number, segment: Segment): Generator<undefined, number> {
  const masks = masksOf(segment)
  const others = masks.get(undefined) as Uint32Array
  const state = new Uint32Array(others.length)
  const lastWord = state.length - 1
  const lastBit = 1 << ((segment.length - 1) % 32)
  const charactersPerStep = Math.ceil(stepLength / state.length)
  let stepEnd = from + charactersPerStep
  for (let at = from; at < text.length; ) {
    if (at >= stepEnd) {
      yield
      stepEnd = at + charactersPerStep
    }
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
  return -1
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
