import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { arrayOf, base64Of, jsonOf, literalOf, numberOf, timestampOf } from './text-form.ts'

describe('timestamps', () => {
  const cases: readonly [printed: string, expected: string][] = [
    ['2025-06-15 15:06:41.5+00', '2025-06-15T15:06:41.500Z'],
    ['2025-06-15 15:06:41+00', '2025-06-15T15:06:41.000Z'],
    ['2025-06-15 15:06:41.123+00', '2025-06-15T15:06:41.123Z'],
    ['2025-06-15 15:06:41.123999+00', '2025-06-15T15:06:41.123Z'],
    ['2025-06-15 15:06:41.000001', '2025-06-15T15:06:41.000Z'],
    ['2025-06-15', '2025-06-15T00:00:00.000Z'],
    ['0001-01-01 00:00:00+00', '0001-01-01T00:00:00.000Z'],
    ['0044-03-15 12:00:00.25+00 BC', '-000043-03-15T12:00:00.250Z'],
    ['0001-01-01 00:00:00+00 BC', '0000-01-01T00:00:00.000Z'],
    ['12025-06-15 15:06:41.12+00', '+012025-06-15T15:06:41.120Z'],
    ['294276-12-31 23:59:59.999999+00', '294276-12-31 23:59:59.999999+00'],
    ['infinity', 'infinity'],
    ['-infinity', '-infinity'],
  ]
  for (const [printed, expected] of cases) test(printed, () => assert.equal(timestampOf(printed), expected))
})

test('NaN and infinities are null', () => {
  assert.deepEqual(['1.5', '-0.1', '1e+20', 'NaN', 'Infinity', '-Infinity'].map(numberOf), [
    1.5,
    -0.1,
    1e20,
    null,
    null,
    null,
  ])
})

test('bytes', () => {
  assert.deepEqual(['\\x', '\\x00ff10', 'plain'].map(base64Of), ['', 'AP8Q', 'plain'])
})

test('JSON, and text that is not JSON', () => {
  assert.deepEqual(['{"a":1}', 'null', '"x"', 'x', ''].map(jsonOf), [{ a: 1 }, null, 'x', 'x', ''])
})

test('array and text literals are quoted', () => {
  assert.equal(arrayOf([]), '{}')
  assert.equal(arrayOf(['a', '"', '\\', '{,}', '', 'null']), '{"a","\\"","\\\\","{,}","","null"}')
  assert.deepEqual(['a', `it's`, 'a\\b', `'\\'`].map(literalOf), [`'a'`, `'it''s'`, ` E'a\\\\b'`, ` E'''\\\\'''`])
})
