import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../test/support/any-character.ts'
import { ServiceError } from './errors.ts'
import type { Json, JsonObject } from './json.ts'
import { parseQueryString } from './query-string.ts'

const limits = { maxParameters: 100, maxParameterDepth: 4 }
const parse = (text: string): JsonObject => parseQueryString(text, limits)

const understood: readonly [text: string, expected: JsonObject][] = [
  ['', {}],
  ['a=1', { a: '1' }],
  ['limit=30&sort=name', { limit: '30', sort: 'name' }],
  ['a', { a: '' }],
  ['a=', { a: '' }],
  ['a=b=c', { a: 'b=c' }],
  ['=1&&a=2&', { a: '2' }],
  ['a=1&a=2', { a: ['1', '2'] }],
  ['a=1&a=2&a=3', { a: ['1', '2', '3'] }],
  ['a[]=x', { a: ['x'] }],
  ['a[]=x&a[]=y', { a: ['x', 'y'] }],
  ['a[0]=x&a[1]=y', { a: ['x', 'y'] }],
  ['a[1]=y&a[0]=x', { a: ['x', 'y'] }],
  ['a[2]=x&a[10]=y', { a: ['x', 'y'] }],
  ['a[01]=x', { a: { '01': 'x' } }],
  ['a[b]=1&a[c]=2', { a: { b: '1', c: '2' } }],
  ['a[b]=1&a[b]=2', { a: { b: ['1', '2'] } }],
  ['or[0][name]=Ann&or[1][name]=Bo', { or: [{ name: 'Ann' }, { name: 'Bo' }] }],
  ['or[][name]=Ann&or[][name]=Bo', { or: [{ name: 'Ann' }, { name: 'Bo' }] }],
  ['a[b][c][d][e]=1', { a: { b: { c: { d: { e: '1' } } } } }],
  ['age[>=]=25', { age: { '>=': '25' } }],
  ['age[>=]', { age: { '>=': '' } }],
  ['where[age][!=]=[1]=2', { where: { age: { '!=': '[1]=2' } } }],
  ['a[x=y][z]=1', { a: { 'x=y': { z: '1' } } }],
  ['a=[1]', { a: '[1]' }],
  ['where%5Bage%5D%5B%3E%3D%5D=25', { where: { age: { '>=': '25' } } }],
  // encodeURI escapes brackets and leaves the equals sign.
  ['age%5B%3E=%5D=25', { age: { '>=': '25' } }],
  ['age%5b!=]=%5B1%5D=2', { age: { '!=': '[1]=2' } }],
  ['a=%5Bb=1%5D', { a: '[b=1]' }],
  ['a%255B=1', { 'a%5B': '1' }],
  ['name=a+b%20c%2B', { name: 'a b c+' }],
  ['a+b=1', { 'a b': '1' }],
  ['where={"a":"100%25"}', { where: '{"a":"100%"}' }],
  ['n=%E2%82%AC&e=%F0%9F%90%88', { n: '€', e: '🐈' }],
  ['toString=1&valueOf=2&hasOwnProperty=3', { toString: '1', valueOf: '2', hasOwnProperty: '3' }],
  ['a[toString]=1&a[toString]=2', { a: { toString: ['1', '2'] } }],
  ['a=1&A=2', { a: '1', A: '2' }],
]

describe('parseQueryString accepts', () => {
  for (const [text, expected] of understood) {
    test(text || 'an empty text', () => assert.deepEqual(parse(text), expected))
  }
})

const refused: readonly [text: string, message: RegExp][] = [
  ['a=%', /percent-encoded/],
  ['a=%zz', /percent-encoded/],
  ['%=1', /percent-encoded/],
  ['a=%C0%AF', /percent-encoded/],
  ['a=%FF', /percent-encoded/],
  ['a=%ED%A0%80', /percent-encoded/],
  ['a[b=1', /brackets/],
  ['a[b', /brackets/],
  ['a[b]c=1', /brackets/],
  ['a[b]]=1', /brackets/],
  ['a[[b]]=1', /brackets/],
  ['a]b[c]=1', /brackets/],
  ['[a]=1', /brackets/],
  ['[]=1', /brackets/],
  ['__proto__=1', /__proto__/],
  ['constructor=1', /constructor/],
  ['prototype=1', /prototype/],
  ['__proto__[a]=1', /__proto__/],
  ['a[__proto__]=1', /__proto__/],
  ['a[b][constructor][prototype]=1', /constructor/],
  ['a[0][prototype]=1', /prototype/],
  ['%5F_proto__=1', /__proto__/],
  ['a=1&a[b]=2', /Conflicting/],
  ['a[b]=2&a=1', /Conflicting/],
  ['a=1&a[]=2', /Conflicting/],
  ['a[]=1&a[0]=2', /Conflicting/],
  ['a[0]=1&a[b]=2', /Conflicting/],
  ['a[b]=1&a[b][c]=2', /Conflicting/],
  ['a[b][c]=1&a[b]=2', /Conflicting/],
  ['a[99999]=x', /100/],
  ['a[100]=x', /100/],
  ['a[99999999999999999999]=x', /100/],
  ['a[b][c][d][e][f]=1', /4 levels/],
  ['x&'.repeat(100), /100/],
  ['&'.repeat(100), /100/],
]

describe('parseQueryString refuses', () => {
  for (const [text, message] of refused) {
    test(text.slice(0, 40), () => {
      assert.throws(
        () => parse(text),
        (error) => error instanceof ServiceError && error.code === 'E_BAD_REQUEST' && message.test(error.message),
      )
    })
  }

  test('a long name, of which the message quotes the beginning', () => {
    assert.throws(
      () => parse(`${'a'.repeat(100_000)}[`),
      (error) => error instanceof ServiceError && error.message.length < 120,
    )
  })
})

test('the largest number of parameters is accepted', () => {
  const text = Array.from({ length: 100 }, (_, index) => `a[${index}]=${index}`).join('&')
  assert.equal((parse(text).a as readonly Json[]).length, 100)
})

test('very long malformed input is refused with a ServiceError', () => {
  for (const text of [
    '[]'.repeat(500_000),
    `a${'[]'.repeat(500_000)}=1`,
    `a${'[='.repeat(300_000)}`,
    '='.repeat(1e6),
  ]) {
    try {
      parse(text)
    } catch (error) {
      assert.ok(error instanceof ServiceError, String(error))
    }
  }
})

test('no input changes the prototype of other objects', () => {
  for (const text of ['__proto__[polluted]=1', 'a[__proto__][polluted]=1', 'constructor[prototype][polluted]=1']) {
    assert.throws(() => parse(text), ServiceError)
  }
  assert.equal(({} as { polluted?: string }).polluted, undefined)
})

const scrap = fc.constantFrom(
  'a',
  'b',
  '[',
  ']',
  '=',
  '&',
  '%',
  '+',
  '0',
  '1',
  '7',
  '%5B',
  '%5D',
  '%00',
  '%C3',
  '__proto__',
  'é',
)

test('any text is parsed or refused with a ServiceError', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: anyCharacter }),
    fc.array(scrap).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(text, (text) => {
      try {
        const parsed = parse(text)
        assert.deepEqual(JSON.parse(JSON.stringify(parsed)), parsed)
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
      }
    }),
    { numRuns: 2000 },
  )
})

test('nested objects and lists of texts survive encoding and parsing', () => {
  const name = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter((name) => !/[[\]]|^\d+$|^(__proto__|constructor|prototype)$/.test(name))
  const { tree } = fc.letrec<{ tree: Json; node: Json }>((tie) => ({
    tree: fc.dictionary(name, tie('node'), { maxKeys: 3 }),
    node: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.string({ unit: 'grapheme' }),
      fc.dictionary(name, tie('node'), { minKeys: 1, maxKeys: 3 }),
      fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
    ),
  }))
  let nested = 0
  fc.assert(
    fc.property(tree, (tree) => {
      const text = written(tree)
      if (text.includes('][')) nested++
      assert.deepEqual(parseQueryString(text, { maxParameters: 10_000, maxParameterDepth: 10 }), plain(tree))
    }),
  )
  assert.ok(nested > 10, 'the generator makes nested trees')
})

function written(node: Json, name = ''): string {
  if (typeof node === 'string') return `${name}=${encodeURIComponent(node)}`
  return Object.entries(node as JsonObject)
    .map(([key, child]) =>
      written(child, name === '' ? encodeURIComponent(key) : `${name}[${encodeURIComponent(key)}]`),
    )
    .join('&')
}

/** fast-check also makes objects without a prototype. */
const plain = (node: Json): Json => JSON.parse(JSON.stringify(node)) as Json
