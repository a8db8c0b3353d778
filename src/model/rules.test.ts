import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../protocol/json.ts'
import type { AttributeDefinition } from './definition.ts'
import { rulesOf } from './rules.ts'
import { attributeTypeOf } from './types.ts'

function declared(definition: AttributeDefinition) {
  const type = attributeTypeOf(definition)
  assert.ok(typeof type === 'object')
  return rulesOf(definition, type)
}

function complaints(definition: AttributeDefinition, value: Json): (string | undefined)[] {
  const { rules, problems } = declared(definition)
  assert.deepEqual(problems, [])
  return rules.map((rule) => rule.check(value)).filter((message) => message !== undefined)
}

type Case = readonly [definition: AttributeDefinition, fine: readonly Json[], wrong: readonly Json[], message: string]
const cases: { readonly [rule: string]: Case } = {
  isIn: [{ type: 'string', isIn: ['cat', 'dog'] }, ['cat', 'dog'], ['', 'Cat', 'bird'], 'must be one of "cat", "dog"'],
  'isIn of numbers': [{ type: 'number', isIn: [1, 2] }, [1, 2], [3, 0], 'must be one of 1, 2'],
  'isIn of big numbers': [{ type: 'bigint', isIn: [1, '2'] }, ['1', '2'], ['3'], 'must be one of "1", "2"'],
  'min and max': [{ type: 'number', min: 1, max: 1 }, [1], [2], 'must be at most 1'],
  min: [{ type: 'number', min: 0 }, [0, 0.5, 7], [-1, -0.001], 'must be at least 0'],
  max: [{ type: 'number', max: 200 }, [200, -5], [200.5, 201], 'must be at most 200'],
  'min of a bigint': [{ type: 'bigint', min: 10 }, ['10', '9223372036854775807'], ['9', '-100'], 'must be at least 10'],
  'max of a bigint': [{ type: 'bigint', max: 10 }, ['10', '9'], ['11', '100'], 'must be at most 10'],
  minLength: [
    { type: 'string', minLength: 2 },
    ['ab', '🦊🦊', 'abcde'],
    ['', 'a', '🦊'],
    'must have at least 2 characters',
  ],
  maxLength: [
    { type: 'string', maxLength: 2 },
    ['', 'ab', '🦊🦊', 'a🦊', '\u{10000}\u{10ffff}'],
    ['abc', '🦊🦊🦊', 'a🦊b'],
    'must have at most 2 characters',
  ],
  'minLength and maxLength': [
    { type: 'string', minLength: 0, maxLength: 0 },
    [''],
    ['a'],
    'must have at most 0 characters',
  ],
  'maxLength of one': [{ type: 'string', maxLength: 1 }, ['a', '🦊'], ['ab'], 'must have at most 1 character'],
  isEmail: [
    { type: 'string', isEmail: true },
    [
      'ann@peer.test',
      'a@b.co',
      'first.last+tag@sub.example.com',
      "o'neil@example.org",
      'zoë@exämple.com',
      '用户@例子.公司',
      'a@xn--bcher-kva.example',
      `${'x'.repeat(64)}@example.com`,
      `ab@${'x'.repeat(60)}.${'x'.repeat(60)}.${'x'.repeat(60)}.${'x'.repeat(60)}.example`,
    ],
    [
      '',
      'nope',
      '@example.com',
      'ann@',
      'ann@peer',
      'ann peer@example.com',
      'ann@exa mple.com',
      'ann@@example.com',
      '.ann@example.com',
      'ann.@example.com',
      'a..b@example.com',
      'ann@example..com',
      'ann@-example.com',
      'ann@example-.com',
      'ann@.com',
      'ann@example.com.',
      'ann@127.0.0.1',
      'ann@example.com\n',
      'Ann <ann@example.com>',
      'a@b.co, c@d.co',
      `${'x'.repeat(65)}@example.com`,
      `ann@${'x'.repeat(64)}.com`,
      `abc@${'x'.repeat(60)}.${'x'.repeat(60)}.${'x'.repeat(60)}.${'x'.repeat(60)}.example`,
      `ann@${'x.'.repeat(130)}com`,
    ],
    'must be an email address',
  ],
  isURL: [
    { type: 'string', isURL: true },
    [
      'https://example.com',
      'http://example.com:8080/a/b?c=d&e=%20#f',
      'HTTPS://EXAMPLE.COM',
      'ftp://files.example.com/x',
      'https://user:secret@example.com/',
      'https://exämple.com/ü',
      'http://localhost:1337/pets',
      'http://127.0.0.1/',
      'http://[::1]:80/',
      'example.com',
      'www.example.com/a?b',
      `https://example.com/${'x'.repeat(2063)}`,
    ],
    [
      '',
      'example',
      'localhost',
      '5',
      '1.5',
      'http://',
      'http://5',
      'https://example',
      'javascript:alert(1)',
      'javascript://example.com/%0aalert(1)',
      'data:text/html,x',
      'mailto:ann@example.com',
      'file:///etc/passwd',
      '//example.com',
      '/a.b/c',
      'https://exa mple.com',
      ' https://example.com',
      'https://example.com\n',
      'https://example.com/<b>',
      'https://.com',
      'https://example.com:99999',
      `https://example.com/${'x'.repeat(2064)}`,
    ],
    'must be a URL',
  ],
  regex: [{ type: 'string', regex: /^[a-z]+$/ }, ['abc'], ['', 'aBc'], 'must match /^[a-z]+$/'],
  'custom false': [{ type: 'number', custom: (n: number) => n % 2 === 0 }, [2], [3], 'is invalid'],
  'custom with words': [{ type: 'string', custom: (s: string) => s === 'x' || 'must be x' }, ['x'], ['y'], 'must be x'],
  'custom that stumbles': [
    { type: 'json', custom: (value: { a: { b: number } }) => value.a.b === 1 },
    [{ a: { b: 1 } }],
    [{}, 5],
    'is invalid',
  ],
  'custom that forgets to answer': [
    { type: 'number', custom: (() => undefined) as unknown as () => boolean },
    [],
    [1],
    'is invalid',
  ],
}

for (const [name, [definition, fine, wrong, message]] of Object.entries(cases)) {
  describe(name, () => {
    for (const value of fine) {
      test(`${JSON.stringify(value).slice(0, 60)} is accepted`, () =>
        assert.deepEqual(complaints(definition, value), []))
    }
    for (const value of wrong) {
      test(`${JSON.stringify(value).slice(0, 60)} is refused`, () =>
        assert.deepEqual(complaints(definition, value), [message]))
    }
  })
}

test('the message lists the beginning of a long list', () => {
  const isIn = Array.from({ length: 30 }, (_, index) => index)
  const [message] = complaints({ type: 'number', isIn }, -1)
  assert.match(message ?? '', /^must be one of 0, 1, .* 19, …$/)
  const [whole] = complaints({ type: 'number', isIn: isIn.slice(0, 20) }, -1)
  assert.match(whole ?? '', /^must be one of 0, 1, .* 19$/)
})

test('a flag that is false adds no rule', () => {
  assert.deepEqual(declared({ type: 'string', isEmail: false, isURL: false }), { rules: [], problems: [] })
})

test('the violations of all rules are reported', () => {
  assert.deepEqual(complaints({ type: 'string', minLength: 5, isEmail: true, regex: /^x/ }, 'a'), [
    'must have at least 5 characters',
    'must be an email address',
    'must match /^x/',
  ])
})

test('rules describe their parameters', () => {
  const { rules } = declared({ type: 'string', isIn: ['a'], minLength: 1, maxLength: 2, isEmail: true, regex: /a/ })
  assert.deepEqual(
    rules.map(({ name, expects }) => [name, expects]),
    [
      ['isIn', ['a']],
      ['minLength', 1],
      ['maxLength', 2],
      ['isEmail', true],
      ['regex', '/a/'],
    ],
  )
})

test('long texts do not cause backtracking', () => {
  const hard = ['a'.repeat(1e6), `${'a.'.repeat(1e6)}@`, `a@${'a-'.repeat(1e6)}`, `http://${'a.'.repeat(1e6)}`]
  const { rules } = declared({ type: 'string', isEmail: true, isURL: true })
  for (const text of hard) for (const rule of rules) assert.ok(rule.check(text))
})

describe('refused', () => {
  const problems: readonly (readonly [AttributeDefinition, string])[] = [
    [{ type: 'string', isIn: [] }, '`isIn` must not be empty'],
    [{ type: 'number', isIn: [1, 'two'] }, "`isIn` contains 'two', which is not a number"],
    [{ type: 'number', isInteger: true, isIn: [1.5] }, '`isIn` contains 1.5, which is not an integer'],
    [{ type: 'string', isIn: [null as never] }, '`isIn` contains null, which is not a string'],
    [{ type: 'number', min: 2, max: 1 }, '`min` 2 is greater than `max` 1'],
    [{ type: 'string', minLength: 2, maxLength: 1 }, '`minLength` 2 is greater than `maxLength` 1'],
    [{ type: 'string', minLength: -1 }, '`minLength` must be an integer of at least 0'],
    [{ type: 'string', maxLength: 1.5 }, '`maxLength` must be an integer of at least 0'],
    [{ type: 'string', regex: /a/g }, '`regex` /a/g has the flag g: it would keep state between values'],
    [{ type: 'string', regex: /a/y }, '`regex` /a/y has the flag y: it would keep state between values'],
    [
      { type: 'string', regex: /^(?=.*\d).+$/ },
      '`regex` /^(?=.*\\d).+$/ cannot be matched in linear time: use `custom` for lookahead, lookbehind and back references',
    ],
    [{ type: 'string', custom: (async () => true) as never }, '`custom` must be synchronous'],
    [{ type: 'string', min: 1 }, '`min` cannot be used with a string'],
    [{ type: 'string', max: 1 }, '`max` cannot be used with a string'],
    [{ type: 'datetime', min: 1 }, '`min` cannot be used with a date and time in ISO 8601'],
    [{ type: 'number', minLength: 1 }, '`minLength` cannot be used with a number'],
    [{ type: 'number', maxLength: 1 }, '`maxLength` cannot be used with a number'],
    [{ type: 'number', isEmail: true }, '`isEmail` cannot be used with a number'],
    [{ type: 'boolean', isURL: true }, '`isURL` cannot be used with true or false'],
    [{ type: 'number', regex: /1/ }, '`regex` cannot be used with a number'],
    [{ type: 'json', isIn: ['a'] }, '`isIn` cannot be used with JSON'],
    [{ type: 'ref', columnType: 'blob', maxLength: 5 }, '`maxLength` cannot be used with base64'],
  ]
  for (const [definition, problem] of problems) {
    test(problem, () => assert.deepEqual(declared(definition).problems, [problem]))
  }
})
