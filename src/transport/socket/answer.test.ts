import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ServiceError } from '../../protocol/errors.ts'
import { EncodedJson } from '../../protocol/json.ts'
import type { ServiceResponse } from '../../protocol/request.ts'
import { encodeAnswer, failed } from './answer.ts'

describe('an answer', () => {
  const cases: readonly [name: string, response: ServiceResponse, expected: object][] = [
    ['with a value', { status: 200, headers: {}, body: { a: 1 } }, { body: { a: 1 }, headers: {}, statusCode: 200 }],
    [
      'with text that is JSON',
      { status: 201, headers: {}, body: new EncodedJson('[1]') },
      { body: [1], headers: {}, statusCode: 201 },
    ],
    ['with null', { status: 200, headers: {}, body: null }, { body: null, headers: {}, statusCode: 200 }],
    ['without a body', { status: 204, headers: {} }, { headers: {}, statusCode: 204 }],
    [
      'with a problem',
      {
        status: 400,
        headers: { 'Content-Type': 'application/problem+json; charset=utf-8' },
        body: new EncodedJson('{}'),
      },
      { body: {}, headers: {}, statusCode: 400 },
    ],
    [
      'with a page, which is one text',
      { status: 200, headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: new EncodedJson('<p>"]</p>') },
      { body: '<p>"]</p>', headers: {}, statusCode: 200 },
    ],
    [
      'with what its headers say of it',
      {
        status: 200,
        headers: { ETag: '"x"', 'X-Total-Count': '3', Link: '<y>', 'Cache-Control': 'no-store', Vary: 'Accept' },
      },
      { headers: { ETag: '"x"', 'X-Total-Count': '3', Link: '<y>' }, statusCode: 200 },
    ],
  ]
  for (const [name, response, expected] of cases) {
    test(name, () => assert.deepEqual(JSON.parse(encodeAnswer(response)), expected))
  }
})

test('an error for clients is told as over HTTP', () => {
  const reported: unknown[] = []
  const error = new ServiceError('E_BAD_BODY', 'no', { limit: 'maxJsonDepth' })
  const { status, body } = failed(error, (error) => reported.push(error))
  assert.equal(status, 400)
  assert.equal((body as { limit: string }).limit, 'maxJsonDepth')
  assert.deepEqual(reported, [])
})

test('any other error is reported, and nothing of it told', () => {
  const reported: unknown[] = []
  const error = new Error('the secret is 42')
  const response = failed(error, (error) => reported.push(error))
  assert.equal(response.status, 500)
  assert.doesNotMatch(encodeAnswer(response), /42/)
  assert.deepEqual(reported, [error])
})
