import fc from 'fast-check'
import type { Json } from '../../../src/protocol/json.ts'

/**
 * Characters that are special in a pattern, a collation, a case table or an encoding, in the combinations in which they
 * cause errors. The texts of one run use a few of them, so that they are often equal or parts of each other.
 */
const letters = ['a', 'A', 'b', 'B', 'ab']
const companies = [
  ['%', '_', '\\', 'a', '%%'],
  ['*', '?', '[', ']', '^', '-', '!', 'a'],
  ['\ud7ff', '\ue000', '\ufffd', '\ufffe', '\uffff', '\u{10000}', '\u{103ff}', '\u{10ffff}', 'a'],
  [' ', '\t', '\n', '\u00a0', '\u200b', '\ufeff', 'a'],
  ['é', 'e', '\u0301', 'E', 'É', 'e\u0301'],
  ['ß', 'ss', 'SS', 'ſ', 's', 'İ', 'ı', 'i', 'I', 'K', 'k', 'Σ', 'ς', 'σ'],
  ["'", '"', '`', ';', '--', '$1', '?', ':', '{', '0'],
  ['\u0001', '\u007f', '\u0080', '\u07ff', '\u0800', '日', '🦁', 'a'],
]

const withoutNul = (text: string): string => text.replaceAll('\0', '')
const anyCharacter = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...companies.flat()) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).map((text) => withoutNul(text) || 'a'),
  },
)

/** The alphabet of one run. */
export const alphabet = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(letters, letters, ...companies)
      .chain((company) => fc.subarray(company, { minLength: 2 })),
  },
  { weight: 1, arbitrary: fc.array(anyCharacter, { minLength: 2, maxLength: 5 }) },
)

/** A text as indexes into an alphabet. */
export interface Spelling {
  readonly letters: readonly number[]
}
export const isSpelling = (value: unknown): value is Spelling =>
  typeof value === 'object' && value !== null && 'letters' in value

export const spell = ({ letters }: Spelling, alphabet: readonly string[]): string =>
  letters.map((letter) => alphabet[letter % alphabet.length]).join('')

export const spelling = fc.array(fc.nat({ max: 8 }), { maxLength: 4 }).map((letters): Spelling => ({ letters }))

const hardReals = [
  ...[0, 1, -1, 2, 10, 0.1, 0.2, 0.3, 0.1 + 0.2, 1 / 3, -0.5, 1e-7, 1e21, 123456789.12345678],
  ...[2 ** 53, 2 ** 53 + 2, -(2 ** 53), 2 ** 53 - 1, 2 ** 63, 1e308, -1e308, Number.MAX_VALUE, -Number.MAX_VALUE],
  ...[5e-324, -5e-324, 2.2250738585072014e-308, 4.9406564584124654e-322],
]
const real = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...hardReals) },
  { weight: 2, arbitrary: fc.integer({ min: -3, max: 3 }) },
  // Adding zero turns negative zero into zero, as the type does.
  { weight: 2, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0) },
)

const whole = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -3, max: 3 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      9,
      10,
      99,
      100,
      2 ** 31,
      -(2 ** 31) - 1,
      Number.MAX_SAFE_INTEGER,
      Number.MIN_SAFE_INTEGER,
    ),
  },
  { weight: 1, arbitrary: fc.maxSafeInteger() },
)

const hardBigs = [
  0n,
  9n,
  10n,
  -9n,
  -10n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  -(2n ** 53n) - 1n,
  2n ** 63n - 2n,
  2n ** 63n - 1n,
  -(2n ** 63n),
]
const big = fc
  .oneof(
    { weight: 4, arbitrary: fc.constantFrom(...hardBigs) },
    { weight: 1, arbitrary: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) },
  )
  .map(String)

const hardTimes = [
  '0001-01-01T00:00:00.000Z',
  '0099-12-31T23:59:59.999Z',
  '1900-02-28T23:59:59.999Z',
  '1969-12-31T23:59:59.999Z',
  '1970-01-01T00:00:00.000Z',
  '2024-02-29T12:00:00.000Z',
  '2026-11-21T03:00:00.123Z',
  '2026-11-21T03:00:00.124Z',
  '2026-11-21T03:00:00.999Z',
  '2026-11-21T03:00:01.000Z',
  '9999-12-31T23:59:59.999Z',
]
const at = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...hardTimes) },
  {
    weight: 1,
    arbitrary: fc
      .date({ min: new Date(hardTimes[0] as string), max: new Date(hardTimes.at(-1) as string), noInvalidDate: true })
      .map((date) => date.toISOString()),
  },
)

const uuid = fc.oneof(
  fc.constantFrom(
    '00000000-0000-0000-0000-000000000000',
    '0fffffff-0000-4000-8000-000000000000',
    'a0000000-0000-4000-8000-00000000000a',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ),
  fc.uuid(),
)

const json: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  0,
  '',
  'null',
  false,
  [],
  {},
  [null],
  { a: { b: [1.5, 'é🦁'] }, '': 5e-324 },
  1e308,
)
const bytes = fc.uint8Array({ maxLength: 4 }).map((array) => Buffer.from(array).toString('base64'))

/** A value of each computed attribute. */
export const computedValuesOf: Readonly<Record<string, fc.Arbitrary<Json | Spelling>>> = {
  joined: spelling,
  first: spelling,
  isTwin: fc.boolean(),
  seen: at,
  total: big,
}

/** A value of each attribute, as stored. */
export const valuesOf: Readonly<Record<string, fc.Arbitrary<Json | Spelling>>> = {
  text: spelling,
  other: spelling,
  real,
  whole,
  big,
  flag: fc.boolean(),
  at,
  uuid,
  json,
  bytes,
}
