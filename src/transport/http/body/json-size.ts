import { tooDeep } from '../../../protocol/body-depth.ts'
import { ServiceError } from '../../../protocol/errors.ts'
import type { Limits } from '../../../support/limits.ts'

/** A shorter text is parsed and then checked: it takes no longer than to look at its characters. */
export const checkedLength = 65_536

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Throws E_BAD_BODY for a text with more levels, or more names and values, than the limits allow, before anything is built
 * of it. Of a text that is not JSON the result says nothing: the parser refuses it.
 */
export function requireBounded(text: string, limits: Limits): void {
  let levels = 0
  let values = 1
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === quote) at = endOfString(text, at)
    else if (unit === comma || unit === colon) values++
    else if (unit === openList || unit === openObject) {
      values++
      if (++levels > limits.maxJsonDepth) throw tooDeep(limits)
    } else if (unit === closeList || unit === closeObject) levels--
    if (values > limits.maxJsonValues) throw tooManyValues(limits)
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
