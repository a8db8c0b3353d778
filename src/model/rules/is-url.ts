import type { RuleKind } from '../rules.ts'

export const isURL: RuleKind = {
  name: 'isURL',
  fits: ['text'],
  make: ({ isURL }) =>
    isURL
      ? {
          name: 'isURL',
          expects: true,
          check: (value) => (looksLikeUrl(value as string) ? undefined : 'must be a web address'),
        }
      : undefined,
}

/** Browsers and search engines give up here. It also bounds the work. */
const longest = 2083
const scheme = /^[a-z][a-z0-9+.-]*:\/\//i
const schemes = ['http:', 'https:', 'ftp:']
const authority = /^[^/?#]*/
const dotted = /[^.]\.[^.]/
const hasName = /[^\d.]/

/**
 * What people write: `https://example.com/a?b#c`, and `example.com/a` without the scheme, as the ancestor took it.
 * Never a scheme that does something, such as `javascript:`.
 */
function looksLikeUrl(text: string): boolean {
  if (text.length > longest || /[\s\p{Cc}<>"\\]/u.test(text)) return false
  const hasScheme = scheme.test(text)
  const url = URL.parse(hasScheme ? text : `http://${text}`)
  if (!url || !schemes.includes(url.protocol)) return false
  if (url.hostname === 'localhost' || url.hostname.startsWith('[')) return hasScheme
  // Of the text itself: the parser makes an address out of any number, 0.0.0.5 out of 5.
  if (!dotted.test(authority.exec(text.replace(scheme, ''))![0])) return false
  return hasScheme || (url.username === '' && hasName.test(url.hostname))
}
