import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ServiceResponse } from '../../protocol/request.ts'
import type { CorsOptions } from '../../service/config/config.ts'
import { OriginPolicy } from '../origin-policy.ts'
import { createCors } from './cors.ts'

const corsOf = (options: CorsOptions) => createCors(options, new OriginPolicy({ cors: options }))

const app = 'https://app.example'
const response: ServiceResponse = {
  status: 200,
  headers: { 'X-Total-Count': '3', Link: '</pet>; rel="next"' },
  body: [],
}

const allowed = (
  options: CorsOptions,
  origin: string | undefined,
  given = response,
): Readonly<Record<string, string>> => corsOf(options).allow(given, { origin }).headers

describe('a listed origin', () => {
  test('may read the answer and its headers', () => {
    assert.deepEqual(allowed({ origins: [app] }, app), {
      'X-Total-Count': '3',
      Link: '</pet>; rel="next"',
      'Access-Control-Allow-Origin': app,
      'Access-Control-Expose-Headers': 'X-Total-Count, Link',
      Vary: 'Origin',
    })
  })

  test('may send credentials only with `credentials: true`', () => {
    assert.equal(allowed({ origins: [app] }, app)['Access-Control-Allow-Credentials'], undefined)
    assert.equal(allowed({ origins: [app], credentials: true }, app)['Access-Control-Allow-Credentials'], 'true')
  })

  test('keeps other values of Vary', () => {
    const varied = { ...response, headers: { Vary: 'Accept' } }
    assert.equal(allowed({ origins: [app] }, app, varied).Vary, 'Accept, Origin')
    assert.equal(allowed({ origins: '*' }, app, varied).Vary, 'Accept')
  })
})

describe('an origin that is not listed', () => {
  const others = [
    undefined,
    '',
    'null',
    'https://app.example.evil',
    'https://evil.example',
    'https://sub.app.example',
    'http://app.example',
    'https://app.example:8443',
    'https://APP.example',
    'https://app.example/',
    ' https://app.example',
  ]
  for (const origin of others) {
    test(`${origin} gets no header except Vary`, () => {
      const headers = allowed({ origins: [app], credentials: true }, origin)
      assert.deepEqual(headers, { ...response.headers, Vary: 'Origin' })
    })
  }
})

test("'*' lets every site read, without credentials", () => {
  const headers = allowed({ origins: '*' }, 'https://any.example')
  assert.equal(headers['Access-Control-Allow-Origin'], '*')
  assert.equal(headers['Access-Control-Allow-Credentials'], undefined)
  assert.equal(headers.Vary, undefined)
})

describe('a preflight', () => {
  const asks = {
    origin: app,
    'access-control-request-method': 'PATCH',
    'access-control-request-headers': 'content-type,if-match',
  }

  test('from a listed origin gets the allowed methods and headers', () => {
    assert.deepEqual(corsOf({ origins: [app], credentials: true, maxAge: 600 }).preflight('OPTIONS', asks), {
      status: 204,
      headers: {
        'Access-Control-Allow-Origin': app,
        'Access-Control-Allow-Credentials': 'true',
        'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
        'Access-Control-Allow-Headers': 'content-type,if-match',
        'Access-Control-Max-Age': '600',
        Vary: 'Access-Control-Request-Headers, Origin',
      },
    })
  })

  test('from another origin gets no permission', () => {
    assert.deepEqual(corsOf({ origins: [app] }).preflight('OPTIONS', { ...asks, origin: 'https://evil.example' }), {
      status: 204,
      headers: { Vary: 'Access-Control-Request-Headers, Origin' },
    })
  })

  test('header names are echoed only when they are valid', () => {
    for (const wanted of ['a b', 'x: y', 'a,,b', '*', 'é', 'a\r\nSet-Cookie: x']) {
      const answer = corsOf({ origins: '*' }).preflight('OPTIONS', {
        ...asks,
        'access-control-request-headers': wanted,
      })
      assert.equal(answer?.headers['Access-Control-Allow-Headers'], undefined, wanted)
    }
  })

  test('is an OPTIONS request with an origin and a method; other requests go to the service', () => {
    const cors = corsOf({ origins: [app] })
    assert.equal(cors.preflight('GET', asks), undefined)
    assert.equal(cors.preflight('OPTIONS', { ...asks, origin: undefined }), undefined)
    assert.equal(cors.preflight('OPTIONS', { origin: app }), undefined)
  })
})
