import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** What `\s` matches in JavaScript, and its complement, as the content of a class. RE2 knows the ASCII characters only. */
const space = '\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff'
const nonSpace =
  '\\x00-\\x08\\x0e-\\x1f!-\\u009f\\u00a1-\\u167f\\u1681-\\u1fff\\u200b-\\u2027\\u202a-\\u202e\\u2030-\\u205e\\u2060-\\u2fff\\u3001-\\ufefe\\uff00-\\u{10ffff}'

/** Letters and digits that have a meaning after a backslash in JavaScript. Others mean themselves. */
const escapes = /[bBdDsSwWtnvfrcxuk0-9]/

/**
 * A test for a regular expression that takes time in proportion to the text, by the engine of RE2. Texts are matched by
 * code points, as with the flag `u`, and only `\n` ends a line. Throws if the expression uses what no such engine supports:
 * lookahead, lookbehind, back references, or more than 1000 repetitions.
 */
export function linearPattern(regex: RegExp): (text: string) => boolean {
  // Loaded for the first pattern: it takes a megabyte, and many services have none.
  const { RE2JS } = require('re2js') as typeof import('re2js')
  const flags =
    (regex.ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) |
    (regex.multiline ? RE2JS.MULTILINE : 0) |
    (regex.dotAll ? RE2JS.DOTALL : 0)
  const pattern = RE2JS.compile(RE2JS.translateRegExp(translate(regex)), flags)
  return (text) => pattern.test(text)
}

/** Rewrites the notations that mean something else in RE2. */
function translate({ source, dotAll, unicode }: RegExp): string {
  let translated = ''
  let isInClass = false
  for (let index = 0; index < source.length; index++) {
    const char = source[index] as string
    if (char === '\\') translated += translateEscape(source[++index] as string, isInClass, unicode)
    else if (char === '[' && isInClass) translated += '\\['
    else if (char === '.' && !isInClass && !dotAll) translated += '[^\\n\\r\\u2028\\u2029]'
    else translated += char
    if (char === '[') isInClass = true
    if (char === ']') isInClass = false
  }
  return translated
}

function translateEscape(char: string, isInClass: boolean, isUnicode: boolean): string {
  if (char === 's' || char === 'S') {
    const content = char === 's' ? space : nonSpace
    return isInClass ? content : `[${content}]`
  }
  if (char === 'b' && isInClass) return '\\x08'
  if (char === 'k') throw new Error('Back references are not supported')
  const isLetter = /[A-Za-z0-9]/.test(char)
  const hasMeaning = escapes.test(char) || (isUnicode && /[pP]/.test(char))
  return isLetter && !hasMeaning ? char : `\\${char}`
}
