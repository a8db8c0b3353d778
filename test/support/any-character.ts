import fc from 'fast-check'

const upTo = (last: number) =>
  // Without surrogates: halves of a pair are no characters.
  fc.integer({ min: 0, max: last }).map((code) => String.fromCodePoint(code >= 0xd800 && code < 0xe000 ? 0xfffd : code))

/**
 * Any character of Unicode, control characters included, for `fc.string({ unit })`. The unit `binary` of fast-check is
 * the same and builds a table of all characters first, which takes longer than most tests.
 */
export const anyCharacter = fc.oneof(upTo(0x7f), upTo(0xffff), upTo(0x10ffff))
