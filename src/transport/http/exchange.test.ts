import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ServiceError } from '../../protocol/errors.ts'
import type { Service, ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import { defaultLimits } from '../../support/limits.ts'
import { createFront, exchange, type HttpOptions } from './exchange.ts'

const ok: ServiceResponse = { status: 200, headers: {}, body: {} }

function frontOf(handle: Service['handle'], options: HttpOptions = {}) {
  const reported: unknown[] = []
  const limits = { ...defaultLimits, maxUrlBytes: 100 }
  return { front: createFront({ handle }, limits, { report: (error) => reported.push(error), ...options }), reported }
}

describe('the address', () => {
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
    test(`${target || 'of nothing'} is passed on`, () => {
      let seen: ServiceRequest | undefined
      const { front } = frontOf((request) => {
        seen = request
        return ok
      })
      const headers = { accept: 'x' }
      assert.equal(exchange(front, 'GET', target, headers), ok)
      assert.deepEqual(seen, { method: 'GET', path, base: undefined, query, headers, body: undefined })
    })
  }

  test('may be as long as the limit and no longer', () => {
    const { front } = frontOf(() => ok)
    assert.equal(exchange(front, 'GET', `/${'a'.repeat(99)}`, {}), ok)
    const refused = exchange(front, 'GET', `/${'a'.repeat(100)}`, {}) as ServiceResponse
    assert.equal(refused.status, 414)
    assert.equal((refused.body as { limit?: string }).limit, 'maxUrlBytes')
  })
})

describe('what goes wrong in the service', () => {
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
    test(`and may be told, ${name}`, async () => {
      const { front, reported } = frontOf(handle)
      const response = await exchange(front, 'GET', '/', {})
      assert.equal(response.status, 503)
      assert.deepEqual(response.headers, { 'Content-Type': 'application/problem+json', 'Retry-After': '3' })
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
    test(`and nobody expected, ${name}`, async () => {
      const { front, reported } = frontOf(handle)
      const response = await exchange(front, 'GET', '/', {})
      assert.equal(response.status, 500)
      assert.deepEqual(reported, [secret])
      assert.doesNotMatch(JSON.stringify(response), /swordfish|TypeError|\.ts/)
    })
  }
})

test('an answer at once needs no promise, and a failing body is an answer', () => {
  const { front } = frontOf(({ body }) => ({ ...ok, body }))
  assert.deepEqual(
    exchange(front, 'POST', '/', {}, () => ({ a: 1 })),
    { ...ok, body: { a: 1 } },
  )
  const refused = exchange(front, 'POST', '/', {}, () => {
    throw new ServiceError('E_BAD_BODY', 'no')
  })
  assert.equal((refused as ServiceResponse).status, 400)
})

test('a WebSocket is refused; other upgrades are ignored', () => {
  const { front } = frontOf(() => ok)
  assert.equal((exchange(front, 'GET', '/', { upgrade: 'WebSocket' }) as ServiceResponse).status, 400)
  assert.equal(exchange(front, 'GET', '/', { upgrade: 'h2c' }), ok)
})

test('other sites hear of failures too, when they are allowed in', async () => {
  const app = 'https://app.example'
  const { front } = frontOf(() => Promise.reject(new Error('x')), { cors: { origins: [app] } })
  const response = await exchange(front, 'GET', '/', { origin: app })
  assert.equal(response.status, 500)
  assert.equal(response.headers['Access-Control-Allow-Origin'], app)
})
