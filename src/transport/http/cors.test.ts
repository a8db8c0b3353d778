import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ServiceResponse } from '../../protocol/request.ts'
import { type CorsOptions, createCors } from './cors.ts'

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
): Readonly<Record<string, string>> => createCors(options).allow(given, { origin }).headers

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

  test('may send credentials only where the options say so', () => {
    assert.equal(allowed({ origins: [app] }, app)['Access-Control-Allow-Credentials'], undefined)
    assert.equal(allowed({ origins: [app], credentials: true }, app)['Access-Control-Allow-Credentials'], 'true')
  })

  test('does not push aside what else the answer depends on', () => {
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
    test(`${origin} is told nothing, except that the answer depends on it`, () => {
      const headers = allowed({ origins: [app], credentials: true }, origin)
      assert.deepEqual(headers, { ...response.headers, Vary: 'Origin' })
    })
  }
})

test("'*' lets every site read, without credentials", () => {
  const headers = allowed({ origins: '*' }, 'https://anybody.example')
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

  test('from a listed origin is told what it may', () => {
    assert.deepEqual(createCors({ origins: [app], credentials: true, maxAge: 600 }).preflight('OPTIONS', asks), {
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

  test('from another origin is told nothing', () => {
    assert.deepEqual(createCors({ origins: [app] }).preflight('OPTIONS', { ...asks, origin: 'https://evil.example' }), {
      status: 204,
      headers: { Vary: 'Access-Control-Request-Headers, Origin' },
    })
  })

  test('cannot make us repeat what is no list of names', () => {
    for (const wanted of ['a b', 'x: y', 'a,,b', '*', 'é', 'a\r\nSet-Cookie: x']) {
      const answer = createCors({ origins: '*' }).preflight('OPTIONS', {
        ...asks,
        'access-control-request-headers': wanted,
      })
      assert.equal(answer?.headers['Access-Control-Allow-Headers'], undefined, wanted)
    }
  })

  test('is OPTIONS with an origin and a method; everything else goes to the service', () => {
    const cors = createCors({ origins: [app] })
    assert.equal(cors.preflight('GET', asks), undefined)
    assert.equal(cors.preflight('OPTIONS', { ...asks, origin: undefined }), undefined)
    assert.equal(cors.preflight('OPTIONS', { origin: app }), undefined)
  })
})

describe('options that cannot be meant are refused at the start', () => {
  const cases: readonly [CorsOptions, RegExp][] = [
    [{ origins: '*', credentials: true }, /credentials/],
    [{ origins: ['https://app.example/'] }, /not an origin/],
    [{ origins: ['https://app.example/path'] }, /not an origin/],
    [{ origins: ['https://*.example'] }, /not an origin/],
    [{ origins: ['https://App.example'] }, /not an origin/],
    [{ origins: ['app.example'] }, /not an origin/],
    [{ origins: ['null'] }, /not an origin/],
    [{ origins: ['*'] }, /not an origin/],
    [{ origins: [''] }, /not an origin/],
  ]
  for (const [options, message] of cases) {
    test(JSON.stringify(options), () => assert.throws(() => createCors(options), message))
  }
})
