import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ServiceError } from '../../../protocol/errors.ts'
import type { Json } from '../../../protocol/json.ts'
import { defaultLimits } from '../../../support/limits.ts'
import { json } from './json.ts'
import { findJsonError } from './json-error.ts'

const limits = { ...defaultLimits, maxJsonDepth: 4 }
const parse = (text: string): Json => json.parse(text, limits, { type: 'application/json' })

const valid: readonly [text: string, value: Json][] = [
  ['{}', {}],
  ['[]', []],
  [' {"a" : [1, "x", null, true, 1.5e3]}\n', { a: [1, 'x', null, true, 1500] }],
  ['[{"a":{"b":[]}}]', [{ a: { b: [] } }]],
  ['{"a":1,"a":2}', { a: 2 }],
]

const refused: readonly [text: string, message: string][] = [
  ['1', 'The body must be a JSON object or a list, not a single value'],
  ['"x"', 'The body must be a JSON object or a list, not a single value'],
  ['null', 'The body must be a JSON object or a list, not a single value'],
  ['[[[[[]]]]]', 'The body is nested deeper than 4 levels'],
  ['{"a":{"a":{"a":{"a":{}}}}}', 'The body is nested deeper than 4 levels'],
  ['{"a":x}', 'The body is not valid JSON: unexpected "x" at position 5 (line 1, column 6)'],
  ['{\n  "a": 1,\n}', 'The body is not valid JSON: unexpected "}" at position 12 (line 3, column 1)'],
  ['{"a":1', 'The body is not valid JSON: it ends too early, at position 6 (line 1, column 7)'],
  [' ', 'The body is not valid JSON: it ends too early, at position 1 (line 1, column 2)'],
  ['{"a":"\u0007"}', 'The body is not valid JSON: unexpected "\\u0007" at position 6 (line 1, column 7)'],
  ['[1]🐈', 'The body is not valid JSON: unexpected "🐈" at position 3 (line 1, column 4)'],
  ['{"a":1} {"b":2}', 'The body is not valid JSON: unexpected "{" at position 8 (line 1, column 9)'],
]

describe('a JSON body', () => {
  for (const [text, value] of valid) test(`${text} is parsed`, () => assert.deepEqual(parse(text), value))

  for (const [text, message] of refused) {
    test(`${JSON.stringify(text)} is refused`, () => {
      assert.throws(
        () => parse(text),
        (error) => {
          assert.ok(error instanceof ServiceError)
          assert.equal(error.message, message)
          return error.code === 'E_BAD_BODY'
        },
      )
    })
  }

  test('__proto__ is an ordinary member and does not change the prototype', () => {
    const value = parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as {
      polluted?: Json
    }
    assert.deepEqual(Object.keys(value), ['__proto__', 'constructor'])
    assert.equal(value.polluted, undefined)
    assert.equal(({} as { polluted?: Json }).polluted, undefined)
  })

  test('a million levels are refused', () => {
    for (const text of ['['.repeat(500_000) + ']'.repeat(500_000), '['.repeat(1_000_000), '{"a":'.repeat(200_000)]) {
      assert.throws(() => parse(text), ServiceError)
    }
  })
})

describe('findJsonError', () => {
  const cases: readonly [text: string, at: number][] = [
    ['', 0],
    ['tru', 0],
    ['[1,]', 3],
    ['[,1]', 1],
    ['[1 2]', 3],
    ['{a:1}', 1],
    ["{'a':1}", 1],
    ['{"a" 1}', 5],
    ['{"a":}', 5],
    ['{"a":1,}', 7],
    ['{"a":1]', 6],
    ['[1}', 2],
    ['[01]', 2],
    ['[1.]', 2],
    ['[-]', 1],
    ['[+1]', 1],
    ['[.5]', 1],
    ['["\\x"]', 2],
    ['["\\u12"]', 2],
    ['["a', 3],
    ['["a\nb"]', 3],
    ['[NaN]', 1],
    ['[1]]', 3],
    ['\ufeff[]', 0],
  ]
  for (const [text, at] of cases) test(JSON.stringify(text), () => assert.equal(findJsonError(text), at))

  test('agrees with the engine where it reports a position', () => {
    const scrap = fc.constantFrom(
      ...'{}[]:,"\\ \n0123.eE+-tfnu',
      'true',
      'null',
      '"a"',
      '\\u00e9',
      '"x":',
      '[1,',
      '{"a":',
    )
    const mangled = fc.tuple(fc.json(), fc.nat(), scrap).map(([text, at, extra]) => {
      const place = at % (text.length + 1)
      return text.slice(0, place) + extra + text.slice(place + 1)
    })
    const text = fc.oneof(
      mangled,
      fc.json(),
      fc.array(scrap).map((parts) => parts.join('')),
    )
    const seen = { valid: 0, placed: 0, early: 0 }
    fc.assert(
      fc.property(text, (text) => {
        const at = findJsonError(text)
        const message = engineError(text)
        if (message === undefined) {
          seen.valid++
          assert.equal(at, text.length)
          return
        }
        const placed = /^(?:Expected|Unterminated string|Bad control|Unexpected non-whitespace).* position (\d+)/.exec(
          message,
        )
        if (placed) {
          seen.placed++
          assert.equal(at, Number(placed[1]), message)
        } else if (message === 'Unexpected end of JSON input') {
          seen.early++
          // For an incomplete word, number or escape this is the position of its first character.
          assert.match(text.slice(at), /^[-\\\w.+]*$/)
        } else {
          assert.ok(at < text.length, message)
        }
      }),
      { numRuns: 3000 },
    )
    for (const count of Object.values(seen)) assert.ok(count > 50, JSON.stringify(seen))
  })
})

function engineError(text: string): string | undefined {
  try {
    JSON.parse(text)
  } catch (error) {
    return (error as Error).message
  }
}
