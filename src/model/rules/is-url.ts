import type { RuleKind } from '../rules.ts'
import { validator } from '../validator.ts'

export const isURL: RuleKind = {
  name: 'isURL',
  fits: ['text'],
  make({ isURL }) {
    if (!isURL) return undefined
    const accepts = validator().isURL
    return {
      name: 'isURL',
      expects: true,
      check: (value) =>
        isShort(value as string) && accepts(value as string, optionsFor(value as string)) ? undefined : message,
    }
  },
}

/** The maximum of common browsers; it also bounds the work. */
const maxLength = 2083
/** Hosts without a dot that are common while developing. */
const local = /^(https?|ftp):\/\/(localhost|\[[\da-f:.]+\])(:\d+)?([/?#]|$)/i

const isShort = (text: string): boolean => text.length <= maxLength

/**
 * Accepts `https://example.com/a?b#c` and, like Sails, `example.com/a` without a scheme. Other schemes, such as
 * `javascript:`, are refused.
 */
const optionsFor = (text: string) => ({ require_tld: !local.test(text), validate_length: false })

const message = 'must be a URL'
