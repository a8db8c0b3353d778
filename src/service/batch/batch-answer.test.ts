import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EncodedJson } from '../../protocol/json.ts'
import { defaultLimits } from '../../support/limits.ts'
import { BatchAnswers } from './batch-answer.ts'

const long = JSON.stringify('é😀"'.repeat(10_000))
const half = Buffer.from(long)

describe('the answers of a batch are one list', () => {
  for (const [what, bodies, isInParts] of [
    ['of none', [], false],
    ['of short ones', ['{"a":1}', undefined, '[]'], false],
    ['of long texts, which are encoded as they come', [long, '{}', undefined, long, long, '1'], true],
    ['of one in parts', [['["a",', '"é"]']], true],
    ['of long ones, in parts and as texts', ['{}', [long], long, ['[', long, ']'], '{}'], true],
  ] as const)
    test(what, () => {
      const answers = new BatchAnswers(defaultLimits)
      const texts = bodies.map((body) => (body === undefined || typeof body === 'string' ? body : body.join('')))
      for (const body of bodies) {
        const content = typeof body === 'object' ? body.map((part) => Buffer.from(part)) : body
        answers.add({
          status: 200,
          headers: { A: 'b' },
          body: content === undefined ? undefined : new EncodedJson(content),
        })
      }
      const { body } = answers.respond()
      assert.ok(body instanceof EncodedJson)
      assert.equal(body.parts !== undefined, isInParts)
      const expected = texts.map(
        (text) => `{"status":200,"headers":{"A":"b"}${text === undefined ? '' : `,"body":${text}`}}`,
      )
      assert.equal(body.encoded, `[${expected.join()}]`)
      assert.equal((answers.respond().body as EncodedJson).encoded, body.encoded)
      assert.equal(defaultLimits.maxAnswerBytes - answers.left, Buffer.byteLength(body.encoded) - 2)
      assert.deepEqual(
        texts.map((_, index) => answers.bodyOf(index)),
        texts.map((text) => (text === undefined ? undefined : JSON.parse(text))),
      )
    })
})

test('what is left to do at the end of a long batch is one part', (t) => {
  const answers = new BatchAnswers(defaultLimits)
  for (let count = 0; count < 100; count++) answers.add({ status: 200, headers: {}, body: new EncodedJson(long) })
  let encoded = 0
  const from = Buffer.from
  t.mock.method(Buffer, 'from', (text: string) => {
    encoded += text.length
    return from(text)
  })
  const { body } = answers.respond()
  assert.ok(((body as EncodedJson).parts?.length ?? 0) > 40)
  assert.ok(encoded < 2 * half.length, `${encoded} characters`)
})

test('an answer that is sent in pieces is refused, and its source ended', async () => {
  let isEnded = false
  const pieces = {
    next: async () => ({ done: false, value: 'a' }) as const,
    async return() {
      isEnded = true
      return { done: true, value: undefined } as const
    },
  }
  const stream = { [Symbol.asyncIterator]: () => pieces }
  const answers = new BatchAnswers(defaultLimits)
  assert.throws(() => answers.add({ status: 200, headers: {}, stream }), { code: 'E_BAD_REQUEST' })
  assert.ok(isEnded)
})
