import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { linearPattern } from './linear-pattern.ts'

const patterns: readonly RegExp[] = [
  /^[a-z]+$/,
  /^[A-Z]{2}-\d+$/i,
  /\bfoo\b/,
  /^\S+@\S+\.\S+$/,
  /^[\S]+[\s\d]*$/,
  /^[^\s]$/,
  /^.$/,
  /^.$/s,
  /^b$/m,
  /^(?:a|b)(?<name>c)?$/,
  /\p{L}/u,
  /^[[\]a-]+$/,
  // biome-ignore lint/correctness/noEmptyCharacterClassInRegex: JavaScript allows it
  /[^]/,
  /zQA|-@\//,
  /[\b]/,
  /^\u00e4\x41\cA$/,
  /^a{2,3}?$/,
  /(^a|b$)/,
]
const texts = [
  '',
  'a',
  'ab',
  'aaa',
  'abc',
  'AB-12',
  'a foo b',
  'afoob',
  'ann@example.com',
  'a b',
  'a\u00a0b',
  '\u2028',
  '\ufeff',
  '\v',
  '\n',
  '\r',
  'a\nb',
  'ä',
  'äA\u0001',
  '[a-]',
  'zQA',
  '-@/',
  '\b',
  'bc',
  '日本',
  '\u0085',
  '\u180e',
]

describe('linearPattern matches like JavaScript', () => {
  for (const pattern of patterns) {
    test(String(pattern), () => {
      const matches = linearPattern(pattern)
      for (const text of texts) assert.equal(matches(text), pattern.test(text), JSON.stringify(text))
    })
  }

  test('generated expressions and texts', () => {
    const part = fc.constantFrom(
      'a',
      'b',
      '.',
      '\\s',
      '\\S',
      '\\w',
      '\\d',
      '[a\\s]',
      '[^\\Sb]',
      '(a|b)',
      '^',
      '$',
      '\\b',
      '[.]',
    )
    const quantifier = fc.constantFrom('', '*', '+', '?', '{1,2}')
    const source = fc
      .array(fc.tuple(part, quantifier), { minLength: 1, maxLength: 5 })
      .map((parts) => parts.map(([text, times]) => (/^[\^$]|^\\b$/.test(text) ? text : text + times)).join(''))
    const text = fc.array(fc.constantFrom('a', 'b', '1', '_', ' ', '\n', '\r', '\u00a0', '.', 'ß'), { maxLength: 6 })
    fc.assert(
      fc.property(source, text, fc.constantFrom('', 's', 'i'), (source, chars, flags) => {
        const pattern = new RegExp(source, flags)
        assert.equal(linearPattern(pattern)(chars.join('')), pattern.test(chars.join('')))
      }),
      { numRuns: 3000 },
    )
  })
})

test('linearPattern matches code points', () => assert.equal(linearPattern(/^.$/)('🦁'), true))

test('expressions that backtrack exponentially in JavaScript are matched', () => {
  for (const pattern of [/^(a+)+$/, /^(a|a)*$/, /^(.*,){20}x$/, /(x+x+)+y/]) {
    assert.equal(linearPattern(pattern)(`${'a'.repeat(100_000)}!`), false)
  }
})

for (const pattern of [/a(?=b)/, /(?<!a)b/, /(a)\1/, /(?<n>a)\k<n>/u, /a{2000}/]) {
  test(`refused: ${pattern}`, () => assert.throws(() => linearPattern(pattern)))
}
