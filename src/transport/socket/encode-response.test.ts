import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { errorResponse } from '../../protocol/error-response.ts'
import { ServiceError } from '../../protocol/errors.ts'
import { EncodedJson } from '../../protocol/json.ts'
import type { ServiceResponse } from '../../protocol/request.ts'
import { encodeResponse } from './encode-response.ts'

describe('a response is encoded', () => {
  const cases: readonly [name: string, response: ServiceResponse, expected: object][] = [
    ['with a value', { status: 200, headers: {}, body: { a: 1 } }, { body: { a: 1 }, headers: {}, statusCode: 200 }],
    [
      'with encoded JSON',
      { status: 201, headers: {}, body: new EncodedJson('[1]') },
      { body: [1], headers: {}, statusCode: 201 },
    ],
    ['with null', { status: 200, headers: {}, body: null }, { body: null, headers: {}, statusCode: 200 }],
    ['without a body', { status: 204, headers: {} }, { headers: {}, statusCode: 204 }],
    [
      'with a problem document',
      {
        status: 400,
        headers: { 'Content-Type': 'application/problem+json; charset=utf-8' },
        body: new EncodedJson('{}'),
      },
      { body: {}, headers: {}, statusCode: 400 },
    ],
    [
      'with an HTML page, which is one string',
      { status: 200, headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: new EncodedJson('<p>"]</p>') },
      { body: '<p>"]</p>', headers: {}, statusCode: 200 },
    ],
    [
      'with the headers that describe the result',
      {
        status: 200,
        headers: { ETag: '"x"', 'X-Total-Count': '3', Link: '<y>', 'Cache-Control': 'no-store', Vary: 'Accept' },
      },
      { headers: { ETag: '"x"', 'X-Total-Count': '3', Link: '<y>' }, statusCode: 200 },
    ],
  ]
  for (const [name, response, expected] of cases) {
    test(name, () => assert.deepEqual(JSON.parse(encodeResponse(response)), expected))
  }
})

test('a ServiceError has the status and body of HTTP', () => {
  const reported: unknown[] = []
  const error = new ServiceError('E_BAD_BODY', 'no', { limit: 'maxJsonDepth' })
  const { status, body } = errorResponse(error, (error) => reported.push(error))
  assert.equal(status, 400)
  assert.equal((body as { limit: string }).limit, 'maxJsonDepth')
  assert.deepEqual(reported, [])
})

test('any other error is reported, and its message is not sent', () => {
  const reported: unknown[] = []
  const error = new Error('the secret is 42')
  const response = errorResponse(error, (error) => reported.push(error))
  assert.equal(response.status, 500)
  assert.doesNotMatch(encodeResponse(response), /42/)
  assert.deepEqual(reported, [error])
})
