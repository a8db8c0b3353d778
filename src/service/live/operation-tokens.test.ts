import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { anonymous, system } from '../../protocol/requester.ts'
import { OperationTokens } from './operation-tokens.ts'

const user = (values: Record<string, unknown>) => ({ kind: 'user', user: values }) as const

describe('the token of an operation', () => {
  test('is the same in every process with the same secret, and another with another', () => {
    const [one, same, other] = ['a', 'a', 'b'].map((secret) => new OperationTokens(secret, true).tokenOf('12'))
    assert.equal(one, same)
    assert.notEqual(one, other)
    assert.match(one as string, /^[\w-]{22}$/)
  })

  test('depends on no token that was asked for before', () => {
    const tokens = new OperationTokens('a', true)
    for (const number of ['7', '99', '100', '7', '199', '1099', '1100', '12345', '1099', '12399', '12400'])
      assert.equal(tokens.tokenOf(number), new OperationTokens('a', true).tokenOf(number), number)
  })

  test('shows nothing of the number', () => {
    const tokens = new OperationTokens('a', true)
    const found = Array.from({ length: 1_000 }, (_, number) => tokens.tokenOf(String(number)))
    assert.equal(new Set(found).size, found.length)
    const sorted = found.toSorted()
    assert.ok(found.some((token, index) => token !== sorted[index]))
  })
})

describe('the key of a requester', () => {
  const tokens = new OperationTokens('a', true)
  const cases: readonly (readonly [string, ReturnType<typeof user>, ReturnType<typeof user>, boolean])[] = [
    ['the same id', user({ id: 1, role: 'x' }), user({ id: 1, role: 'y' }), true],
    ['another id', user({ id: 1 }), user({ id: 2 }), false],
    ['a number and a text', user({ id: 1 }), user({ id: '1' }), false],
    ['the same big integer', user({ id: 1n, role: 'x' }), user({ id: 1n, role: 'y' }), true],
    ['another big integer', user({ id: 1n, role: 'x' }), user({ id: 2n, role: 'x' }), false],
    ['the subject of a token', user({ sub: 'a', exp: 1 }), user({ sub: 'a', exp: 2 }), true],
    ['equal values without an id', user({ role: 'x', exp: 1 }), user({ role: 'x', exp: 2 }), true],
    ['other values without an id', user({ role: 'x' }), user({ role: 'y' }), false],
  ]
  for (const [what, a, b, isSame] of cases)
    test(`${isSame ? 'is equal' : 'differs'}: ${what}`, () => assert.equal(tokens.keyOf(a) === tokens.keyOf(b), isSame))

  test('is common to anonymous requests, and the system has none', () => {
    assert.equal(tokens.keyOf(anonymous), '-')
    assert.equal(tokens.keyOf(system), undefined)
  })

  test('is not needed where requesters are not distinguished', () => {
    assert.equal(new OperationTokens('a', false).keyOf(user({ id: 1 })), undefined)
  })
})
