import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../test/support/any-character.ts'
import type { Json } from '../protocol/json.ts'
import { storageClasses } from './attribute-type.ts'
import { attributeTypes } from './types.ts'

const typeNamed = (name: string) => attributeTypes.find((type) => type.name === name)!

test('every storage class has one type', () => {
  assert.deepEqual(attributeTypes.map(({ storedAs }) => storedAs).sort(), [...storageClasses].sort())
})

test('the ordered types', () => {
  const ordered = attributeTypes.filter(({ ordered }) => ordered).map(({ name }) => name)
  assert.deepEqual(ordered, ['text', 'number', 'integer', 'bigint', 'boolean', 'datetime', 'uuid'])
})

describe('parse', () => {
  const refused = undefined
  const tables: { readonly [type: string]: readonly (readonly [raw: Json, value: Json | undefined])[] } = {
    text: [
      ['Rex', 'Rex'],
      ['', ''],
      ['null', 'null'],
      ['🦊', '🦊'],
      [5, '5'],
      [1.5, '1.5'],
      [-0, '0'],
      [true, 'true'],
      [false, 'false'],
      ['a\0b', refused],
      ['half \ud83e', refused],
      [Number.NaN, refused],
      [{}, refused],
      [['a'], refused],
    ],
    number: [
      [25, 25],
      [1.5, 1.5],
      ['25', 25],
      ['25.0', 25],
      ['01', 1],
      ['-3.5', -3.5],
      ['1e3', 1000],
      ['0x10', 16],
      [true, 1],
      [false, 0],
      [-0, 0],
      ['-0', 0],
      ['', refused],
      [' ', refused],
      [' 1', refused],
      ['1 ', refused],
      ['1\n', refused],
      ['abc', refused],
      ['1,5', refused],
      ['1_000', refused],
      ['Infinity', refused],
      ['1e999', refused],
      ['NaN', refused],
      ['true', refused],
      [Number.POSITIVE_INFINITY, refused],
      [Number.NaN, refused],
      [[1], refused],
      [{}, refused],
    ],
    integer: [
      [25, 25],
      ['25.0', 25],
      ['1e3', 1000],
      [true, 1],
      [-0, 0],
      [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
      ['9007199254740991', Number.MAX_SAFE_INTEGER],
      ['9007199254740993', refused],
      [2 ** 53, refused],
      [1.5, refused],
      ['1.5', refused],
      ['', refused],
      ['1,2', refused],
      [[1], refused],
    ],
    bigint: [
      ['9223372036854775807', '9223372036854775807'],
      ['-9223372036854775808', '-9223372036854775808'],
      ['9223372036854775808', refused],
      ['-9223372036854775809', refused],
      ['007', '7'],
      ['+7', '7'],
      ['-0', '0'],
      [`${'0'.repeat(100)}7`, '7'],
      ['9'.repeat(40), refused],
      [7, '7'],
      [-0, '0'],
      [2 ** 53, refused],
      [1.5, refused],
      ['1.5', refused],
      ['', refused],
      [' 1', refused],
      ['0x10', refused],
      [true, refused],
      [['1'], refused],
    ],
    boolean: [
      [true, true],
      ['true', true],
      [1, true],
      ['1', true],
      [false, false],
      ['false', false],
      [0, false],
      ['0', false],
      ['yes', refused],
      ['TRUE', refused],
      ['', refused],
      [2, refused],
      [[], refused],
    ],
    json: [
      ['{"a":1}', '{"a":1}'],
      ['', ''],
      [0, 0],
      [false, false],
      [{ a: [1, { b: null }] }, { a: [1, { b: null }] }],
      [[], []],
      [['a\0'], refused],
      [{ a: { b: ['\udc00'] } }, refused],
      [{ 'a\0': 1 }, refused],
      [[Number.NaN], refused],
      [{ at: new Date(0) } as unknown as Json, refused],
      [{ bytes: new Uint8Array(1) } as unknown as Json, refused],
      [{ nothing: undefined } as unknown as Json, refused],
      [[() => 1] as unknown as Json, refused],
    ],
    datetime: [
      ['2026-11-21T03:00:00.123Z', '2026-11-21T03:00:00.123Z'],
      ['2026-11-21T03:00:00.123456Z', '2026-11-21T03:00:00.123Z'],
      ['2026-11-21T03:00:00.1Z', '2026-11-21T03:00:00.100Z'],
      ['2026-11-21T03:00:00,5Z', '2026-11-21T03:00:00.500Z'],
      ['2026-11-21T03:00:00Z', '2026-11-21T03:00:00.000Z'],
      ['2026-11-21T03:00:00', '2026-11-21T03:00:00.000Z'],
      ['2026-11-21T03:00', '2026-11-21T03:00:00.000Z'],
      ['2026-11-21 03:00:00+00', '2026-11-21T03:00:00.000Z'],
      ['2026-11-21t03:00:00z', '2026-11-21T03:00:00.000Z'],
      ['2026-11-21T03:00:00+02:00', '2026-11-21T01:00:00.000Z'],
      ['2026-11-21T03:00:00-0530', '2026-11-21T08:30:00.000Z'],
      ['2026-11-21', '2026-11-21T00:00:00.000Z'],
      ['2024-02-29', '2024-02-29T00:00:00.000Z'],
      ['0001-01-01', '0001-01-01T00:00:00.000Z'],
      ['9999-12-31T23:59:59.999+00:00', '9999-12-31T23:59:59.999Z'],
      ['2026-11-21T00:00:00+23:59', '2026-11-20T00:01:00.000Z'],
      ['0026-01-01', '0026-01-01T00:00:00.000Z'],
      ['0001-01-01T00:00:00.000Z', '0001-01-01T00:00:00.000Z'],
      ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
      [0, '1970-01-01T00:00:00.000Z'],
      [-1, '1969-12-31T23:59:59.999Z'],
      [1795221303411, '2026-11-21T00:35:03.411Z'],
      ['2026-02-30', refused],
      ['2026-02-30T00:00:00.000Z', refused],
      ['2023-02-29T00:00:00.000Z', refused],
      ['1900-02-29', refused],
      ['2026-00-10', refused],
      ['2026-13-01T00:00:00.000Z', refused],
      ['2026-04-31', refused],
      ['2026-06-31', refused],
      ['2026-09-31', refused],
      ['2026-11-31', refused],
      ['2026-01-00', refused],
      ['2026-01-01T24:00:00.000Z', refused],
      ['2026-01-01T23:60:00Z', refused],
      ['2026-01-01T23:59:60.000Z', refused],
      ['2026-01-01T00:00:00+24:00', refused],
      ['0000-12-31T00:00:00.000Z', refused],
      ['0001-01-01T00:00:00+01:00', refused],
      ['9999-12-31T23:59:59-01:00', refused],
      ['+010000-01-01T00:00:00.000Z', refused],
      ['2026-11-21T03:00:00.12aZ', refused],
      ['2026-11-21T', refused],
      ['2026-11-21Z', refused],
      ['2026', refused],
      ['yesterday', refused],
      ['', refused],
      [1.5, refused],
      [8.64e15, refused],
      [true, refused],
      [{}, refused],
    ],
    uuid: [
      ['019aa2e5-7c3b-7d4e-9f00-0123456789ab', '019aa2e5-7c3b-7d4e-9f00-0123456789ab'],
      ['019AA2E5-7C3B-7D4E-9F00-0123456789AB', '019aa2e5-7c3b-7d4e-9f00-0123456789ab'],
      ['00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000'],
      ['019aa2e57c3b7d4e9f000123456789ab', refused],
      ['{019aa2e5-7c3b-7d4e-9f00-0123456789ab}', refused],
      ['019aa2e5-7c3b-7d4e-9f00-0123456789ag', refused],
      ['019aa2e5-7c3b-7d4e-9f00-0123456789ab\n', refused],
      ['', refused],
      [1, refused],
    ],
    binary: [
      ['', ''],
      ['AAEC', 'AAEC'],
      ['AAE=', 'AAE='],
      ['/+8=', '/+8='],
      ['AA==', 'AA=='],
      ['AB==', refused],
      ['AAF=', refused],
      ['AA', refused],
      ['AA=', refused],
      ['A===', refused],
      ['A=A=', refused],
      ['-_8=', refused],
      ['AA==\n', refused],
      [1, refused],
      [[], refused],
    ],
  }

  for (const [name, cases] of Object.entries(tables)) {
    for (const [raw, value] of cases) {
      test(`${name}: ${JSON.stringify(raw)}`, () => assert.deepEqual(typeNamed(name).parse(raw), value))
    }
  }

  test('json refuses cyclic values', () => {
    const loop: Json[] = []
    loop.push(loop)
    assert.equal(typeNamed('json').parse(loop), undefined)
  })

  test('a number is never negative zero', () => {
    for (const name of ['number', 'integer']) assert.ok(Object.is(typeNamed(name).parse(-0), 0), name)
  })
})

describe('parsing is idempotent', () => {
  const likely = fc.oneof(
    fc.jsonValue() as fc.Arbitrary<Json>,
    fc.double().map(String),
    fc.integer(),
    fc.bigInt(-(2n ** 64n), 2n ** 64n).map(String),
    fc.constantFrom<Json>(-0, '-0', '0x1F', '1e3', 'true', '0'),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    fc.date({ noInvalidDate: true }).map((date) => date.getTime()),
    fc.uuid().map((uuid) => uuid.toUpperCase()),
    fc.base64String(),
    fc.string({ unit: anyCharacter }),
  )
  for (const type of attributeTypes) {
    test(type.name, () => {
      let accepted = 0
      fc.assert(
        fc.property(likely, (raw) => {
          const once = raw === null ? undefined : type.parse(raw)
          if (once === undefined) return
          accepted++
          assert.notEqual(once, null)
          assert.deepEqual(type.parse(once), once)
        }),
        { numRuns: 1000 },
      )
      assert.ok(accepted > 20, `only ${accepted} values were accepted: the generator misses the type`)
    })
  }
})
