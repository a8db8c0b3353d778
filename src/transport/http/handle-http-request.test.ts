import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ServiceError } from '../../protocol/errors.ts'
import type { Json } from '../../protocol/json.ts'
import type { Service, ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import { defaultLimits } from '../../support/limits.ts'
import { createServerContext, type HttpOptions, handleHttpRequest, type ServerContext } from './handle-http-request.ts'
import { HttpRequest } from './http-request.ts'

const ok: ServiceResponse = { status: 200, headers: {}, body: {} }

const ask = (
  front: ServerContext,
  method: string,
  target: string,
  headers: ServiceRequest['headers'],
  readBody?: () => Json | undefined,
) => handleHttpRequest(front, new HttpRequest(front.policy, method, target, headers, {}), readBody)

function frontOf(handle: Service['handle'], options: HttpOptions = {}) {
  const reported: unknown[] = []
  const limits = { ...defaultLimits, maxUrlBytes: 100 }
  return {
    front: createServerContext({ handle }, limits, { onError: (error) => reported.push(error), ...options }),
    reported,
  }
}

describe('the request target', () => {
  const cases: readonly [target: string, path: string, query: string][] = [
    ['/pet', '/pet', ''],
    ['/pet?', '/pet', ''],
    ['/pet?a=1', '/pet', 'a=1'],
    ['/pet?a=1?b=2', '/pet', 'a=1?b=2'],
    ['/?a=/x', '/', 'a=/x'],
    ['//pet//1', '//pet//1', ''],
    ['//evil.example/pet', '//evil.example/pet', ''],
    ['/p%65t/%2e%2e', '/p%65t/%2e%2e', ''],
    ['/a/../b', '/a/../b', ''],
    ['http://x.example/pet?a=1', '/pet', 'a=1'],
    ['HTTPS://user@x.example:8080/pet', '/pet', ''],
    ['http://x.example', '/', ''],
    ['http://x.example?a=1', '/', 'a=1'],
    ['http://x.example//pet', '//pet', ''],
    ['*', '*', ''],
    ['file:///etc/passwd', 'file:///etc/passwd', ''],
    ['', '', ''],
  ]
  for (const [target, path, query] of cases) {
    test(`${target || 'an empty one'} is parsed`, () => {
      let seen: ServiceRequest | undefined
      const { front } = frontOf((request) => {
        seen = request
        return ok
      })
      const headers = { accept: 'x' }
      assert.equal(ask(front, 'GET', target, headers), ok)
      assert.ok(seen)
      assert.deepEqual([seen.method, seen.path, seen.query, seen.body], ['GET', path, query, undefined])
      assert.deepEqual([seen.headers, seen.site, seen.originAllowed], [headers, 'none', false])
    })
  }

  test('may be as long as maxUrlBytes and no longer', () => {
    const { front } = frontOf(() => ok)
    assert.equal(ask(front, 'GET', `/${'a'.repeat(99)}`, {}), ok)
    const refused = ask(front, 'GET', `/${'a'.repeat(100)}`, {}) as ServiceResponse
    assert.equal(refused.status, 414)
    assert.equal((refused.body as { limit?: string }).limit, 'maxUrlBytes')
  })
})

describe('an error of the service', () => {
  const told = new ServiceError('E_UNAVAILABLE', 'Come back later', { headers: { 'Retry-After': '3' } })

  for (const [name, handle] of [
    [
      'at once',
      () => {
        throw told
      },
    ],
    ['later', () => Promise.reject(told)],
  ] as const) {
    test(`that is a ServiceError, ${name}`, async () => {
      const { front, reported } = frontOf(handle)
      const response = await ask(front, 'GET', '/', {})
      assert.equal(response.status, 503)
      assert.deepEqual(response.headers, {
        'Content-Type': 'application/problem+json; charset=utf-8',
        'Retry-After': '3',
      })
      assert.equal((response.body as { detail?: string }).detail, 'Come back later')
      assert.deepEqual(reported, [])
    })
  }

  const secret = new TypeError('the password is swordfish')
  for (const [name, handle] of [
    [
      'at once',
      () => {
        throw secret
      },
    ],
    ['later', () => Promise.reject(secret)],
  ] as const) {
    test(`that is unexpected, ${name}`, async () => {
      const { front, reported } = frontOf(handle)
      const response = await ask(front, 'GET', '/', {})
      assert.equal(response.status, 500)
      assert.deepEqual(reported, [secret])
      assert.doesNotMatch(JSON.stringify(response), /swordfish|TypeError|\.ts/)
    })
  }
})

test('a long body that has used the turn of the event loop is handled in a later one', async () => {
  let body: unknown
  const { front } = frontOf((request) => {
    body = request.body
    return ok
  })
  const read = () => {
    for (eventLoopTurn.usedMs; eventLoopTurn.usedMs < 10; );
    return { name: 'Rex' }
  }
  const request = new HttpRequest(front.policy, 'POST', '/pet', {}, {})
  const response = handleHttpRequest(front, request, read, true)
  assert.equal(body, undefined)
  assert.equal(await response, ok)
  assert.deepEqual(body, { name: 'Rex' })
})

test('a synchronous response needs no promise, and a failing body becomes a response', () => {
  const { front } = frontOf(({ body }) => ({ ...ok, body }))
  assert.deepEqual(
    ask(front, 'POST', '/', {}, () => ({ a: 1 })),
    { ...ok, body: { a: 1 } },
  )
  const refused = ask(front, 'POST', '/', {}, () => {
    throw new ServiceError('E_BAD_BODY', 'no')
  })
  assert.equal((refused as ServiceResponse).status, 400)
})

test('a WebSocket upgrade is refused; other upgrades are ignored', () => {
  const { front } = frontOf(() => ok)
  assert.equal((ask(front, 'GET', '/', { upgrade: 'WebSocket' }) as ServiceResponse).status, 400)
  assert.equal(ask(front, 'GET', '/', { upgrade: 'h2c' }), ok)
})

test('error responses carry CORS headers, too', async () => {
  const app = 'https://app.example'
  const { front } = frontOf(() => Promise.reject(new Error('x')), { cors: { origins: [app] } })
  const response = await ask(front, 'GET', '/', { origin: app })
  assert.equal(response.status, 500)
  assert.equal(response.headers['Access-Control-Allow-Origin'], app)
})
