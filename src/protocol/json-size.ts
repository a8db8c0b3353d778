import type { Limits } from '../support/limits.ts'
import { tooDeep } from './body-depth.ts'
import { ServiceError } from './errors.ts'
import type { Json } from './json.ts'

/** A shorter text is parsed and then checked: it takes no longer than to look at its characters. */
export const checkedLength = 65_536

/** Whether a text may be an object or a list, before it is parsed. */
export const beginsLikeJson = (text: string): boolean => /^\s*[{[]/.test(text)

/** JSON that a request gives as a text, such as a condition in a form; undefined where the text is not JSON. Throws as `requireBounded`. */
export function jsonInText(text: string, limits: Limits): Json | undefined {
  if (text.length > checkedLength && beginsLikeJson(text)) requireBounded(text, limits)
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Throws E_BAD_BODY for a text with more levels, more names and values, or more different names, than the limits allow, before
 * anything is built of it. Of a text that is not JSON the result says nothing: the parser refuses it.
 */
export function requireBounded(text: string, limits: Limits, maxDepth = limits.maxJsonDepth): void {
  let levels = 0
  let values = 1
  let [begin, end] = [0, 0]
  const names = new Names()
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === quote) {
      begin = at + 1
      at = end = endOfString(text, at)
    } else if (unit === comma) values++
    else if (unit === colon) {
      values++
      if (names.count(text, begin, end) > limits.maxJsonNames) throw tooManyNames(limits)
    } else if (unit === openList || unit === openObject) {
      values++
      if (++levels > maxDepth) throw tooDeep(limits)
    } else if (unit === closeList || unit === closeObject) levels--
    if (values > limits.maxJsonValues) throw tooManyValues(limits)
  }
}

/** Random, so that a client cannot choose names that collide. */
const seed = Math.floor(Math.random() * 2 ** 32)
const slots = 2 ** 18
/** One buffer for all texts, because a new one for each would be garbage of this size. */
const seen = new Uint8Array(slots)

/**
 * Counts distinct names by their hashes. The parser creates a hidden class for each new name, which takes ten times as long as a
 * known name. Names with the same hash count as one: about 200 of 10,000.
 */
class Names {
  #count = 0

  /** Adds the name between two positions, and returns the number of distinct names. */
  count(text: string, begin: number, end: number): number {
    let hash = seed
    for (let at = begin; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
    if (this.#count === 0) seen.fill(0)
    const slot = (hash ^ (hash >>> 15)) & (slots - 1)
    if (seen[slot] === 0) {
      seen[slot] = 1
      this.#count++
    }
    return this.#count
  }
}

/** The place of the quotation mark that ends a string. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at
    while (text.charCodeAt(before - 1) === backslash) before--
    if ((at - before) % 2 === 0) return at
  }
  return text.length
}

const tooManyValues = ({ maxJsonValues }: Limits): ServiceError =>
  new ServiceError('E_BAD_BODY', `The body has more than ${maxJsonValues} names and values`, { limit: 'maxJsonValues' })

const tooManyNames = ({ maxJsonNames }: Limits): ServiceError =>
  new ServiceError('E_BAD_BODY', `The body has more than ${maxJsonNames} different names`, { limit: 'maxJsonNames' })
