import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalJson } from './canonical-json.ts'
import type { Json } from './json.ts'

for (const [value, text] of [
  [null, 'null'],
  ['é"', '"é\\""'],
  [[2, 1, [], {}], '[2,1,[],{}]'],
  [{ b: 1, a: [{ d: null, c: false }] }, '{"a":[{"c":false,"d":null}],"b":1}'],
  [{ é: 1, z: 2, Z: 3, 10: 4, 9: 5 }, '{"9":5,"10":4,"Z":3,"z":2,"é":1}'],
  [JSON.parse('{"b":1,"__proto__":{"a":2}}'), '{"__proto__":{"a":2},"b":1}'],
] as const satisfies readonly (readonly [Json, string])[]) {
  test(`the canonical text of ${JSON.stringify(value)}`, () => {
    assert.equal(canonicalJson(value), text)
  })
}

test('JSON.stringify calls no function for each item', (t) => {
  const { mock } = t.mock.method(JSON, 'stringify')
  assert.equal(canonicalJson([1, { b: 2, a: 3 }]), '[1,{"a":3,"b":2}]')
  assert.deepEqual(
    mock.calls.map((call) => typeof call.arguments[1]),
    ['undefined'],
  )
})
