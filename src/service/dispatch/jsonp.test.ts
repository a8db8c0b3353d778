import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EncodedJson } from '../../protocol/json.ts'
import { asScript } from './jsonp.ts'

test('a script of parts escapes separators also where a part ends within a character', () => {
  const text = '{"a":"\u2028é\u2029","b":"‧\u2028\u2028😀⁨"}'
  const bytes = Buffer.from(text)
  const expected = text.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  for (let first = 0; first <= bytes.length; first++) {
    for (let second = first; second <= bytes.length; second++) {
      const parts = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)]
      const { body } = asScript({ status: 200, headers: {}, body: new EncodedJson(parts) }, 'f')
      const script = (body as EncodedJson).encoded
      assert.equal(script, `/**/ typeof f === 'function' && f(${expected});`, `${first}, ${second}`)
    }
  }
})
