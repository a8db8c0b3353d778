import type { RuleKind } from '../rules.ts'
import { validator } from '../validator.ts'

export const isURL: RuleKind = {
  name: 'isURL',
  fits: ['text'],
  make: ({ isURL }) =>
    isURL
      ? {
          name: 'isURL',
          expects: true,
          check: (value) => (accepts(value as string) ? undefined : 'must be a URL'),
        }
      : undefined,
}

/** The maximum of common browsers; it also bounds the work. */
const maxLength = 2083
/** Hosts without a dot that are common while developing. */
const local = /^(https?|ftp):\/\/(localhost|\[[\da-f:.]+\])(:\d+)?([/?#]|$)/i

/**
 * Accepts `https://example.com/a?b#c` and, like Sails, `example.com/a` without a scheme. Other schemes, such as
 * `javascript:`, are refused.
 */
const accepts = (text: string): boolean =>
  text.length <= maxLength && validator.isURL(text, { require_tld: !local.test(text), validate_length: false })
