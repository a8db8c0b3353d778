import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { linearIndexOf } from '../support/linear-index-of.ts'
import { parseLike } from './like.ts'
import { matchesLike } from './matches-like.ts'

describe('LIKE', () => {
  const cases: readonly (readonly [pattern: string, matching: readonly string[], others: readonly string[]])[] = [
    ['', [''], ['a']],
    ['abc', ['abc'], ['ab', 'abcd', 'Abc']],
    ['%', ['', 'a', 'a%b'], []],
    ['a%', ['a', 'ab'], ['', 'ba']],
    ['%b%', ['b', 'abc'], ['', 'ac']],
    ['a%a', ['aa', 'aba'], ['a', 'ab']],
    ['%ab%ba%', ['abba', 'xabyba'], ['aba', 'baab']],
    ['_', ['a', '😀', '_'], ['', 'ab']],
    ['%a_c%', ['abc', 'aacabc', 'xa😀c'], ['ac', 'acb', 'abbc']],
    ['%_', ['a', '😀'], ['']],
    ['_%_', ['ab', '😀😀'], ['a', '😀']],
    ['\\%\\_\\\\', ['%_\\'], ['a_\\', '%b\\']],
    ['50\\%', ['50%'], ['500']],
    ['a\\', ['a\\'], ['a']],
    ['%\u{1f600}', ['😀', 'a😀'], ['\u{1f601}']],
    [`%a${'_'.repeat(40)}b%`, [`a${'x'.repeat(40)}b`, `aa${'x'.repeat(40)}b`], [`a${'x'.repeat(39)}b`]],
  ]
  for (const [pattern, matching, others] of cases) {
    test(JSON.stringify(pattern), () => {
      for (const text of matching) assert.equal(matchesLike(text, pattern), true, text)
      for (const text of others) assert.equal(matchesLike(text, pattern), false, text)
    })
  }

  const characters = fc.constantFrom('a', 'b', '%', '_', '\\', '😀', '\u{1f601}')
  const strings = fc.string({ unit: characters, maxLength: 12 })

  test('equals its definition', () => {
    fc.assert(
      fc.property(strings, strings, (text, pattern) => {
        assert.equal(matchesLike(text, pattern), definition([...text], parseLike(pattern)))
      }),
      { numRuns: 20_000 },
    )
  })

  test('an escaped text matches itself only', () => {
    fc.assert(
      fc.property(strings, strings, (text, other) => matchesLike(other, escapeLike(text)) === (other === text)),
      { numRuns: 2_000 },
    )
  })
})

const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/** The definition, exponential in the number of `%`. */
function definition(text: readonly string[], pieces: ReturnType<typeof parseLike>): boolean {
  const [piece, ...rest] = pieces
  switch (piece?.kind) {
    case undefined:
      return text.length === 0
    case 'any':
      return definition(text, rest) || (text.length > 0 && definition(text.slice(1), pieces))
    case 'one':
      return text.length > 0 && definition(text.slice(1), rest)
    case 'text': {
      const wanted = [...piece.text]
      return (
        wanted.every((character, place) => text[place] === character) && definition(text.slice(wanted.length), rest)
      )
    }
  }
}

/** Each of these takes minutes when the time is the product of both lengths, so a regression ends the test run. */
describe('the time grows with the length of the text', () => {
  const million = 'a'.repeat(1_000_000)
  const half = 'a'.repeat(250_000)
  const patterns: readonly (readonly [what: string, pattern: string])[] = [
    ['at the end', `%${half}${half}b`],
    ['at the end of a piece', `%${half}${half}b%`],
    ['in the middle of a piece', `%${half}b${half}%`],
    ['after many pieces', `${'%a'.repeat(100_000)}%b%`],
  ]
  for (const [what, pattern] of patterns) {
    test(`a difference ${what}`, () => assert.equal(matchesLike(million, pattern), false))
  }

  test('a match at the end of a long text', () => {
    assert.equal(matchesLike(`${million}b${half}`, `%${half}b${half}%`), true)
  })

  test('wildcards are compared 32 at a time', () => {
    assert.equal(matchesLike(million, `%${'a_'.repeat(500)}b%`), false)
  })
})

test('linearIndexOf equals indexOf for texts of both sizes', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 2, maxLength: 8 })
  const large = fc.tuple(text, text, fc.integer({ min: 0, max: 30 })).map(([unit, end, from]) => {
    const piece = unit.repeat(200)
    return { text: `${(unit + end).repeat(4000)}${end}${piece}${unit}`.padEnd(40_000, 'ab'), piece: piece + end, from }
  })
  fc.assert(
    fc.property(large, ({ text, piece, from }) => linearIndexOf(text, piece, from) === text.indexOf(piece, from)),
  )
})
