import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ServiceError } from '../../protocol/errors.ts'
import type { Peer } from '../../protocol/event.ts'
import type { Json } from '../../protocol/json.ts'
import type { ServiceRequest } from '../../protocol/request.ts'
import { defaultLimits } from '../../support/limits.ts'
import { Malformed, readRequest } from './sails-request.ts'

const peer: Peer = { id: 'p', mirror: false, send: () => true, reset: () => {} }
const begun = { host: 'pets.example', cookie: 'a=1', 'user-agent': 'test' }
const limits = { ...defaultLimits, maxUrlBytes: 100, maxJsonDepth: 3 }

const read = (list: Json) => readRequest(JSON.stringify(list), { peer, headers: begun }, limits)

describe('a message is read as a request', () => {
  const cases: readonly [name: string, list: Json, expected: Partial<ServiceRequest>][] = [
    ['the event is the method', ['get', { url: '/pet' }], { method: 'GET', path: '/pet', query: '', body: undefined }],
    ['and not what the message says', ['put', { method: 'delete', url: '/pet/1' }], { method: 'PUT' }],
    ...['post', 'patch', 'delete', 'head', 'options'].map(
      (event) => [event, [event, { url: '/pet' }], { method: event.toUpperCase() }] as [string, Json, object],
    ),
    ['data is the body', ['post', { url: '/pet', data: { name: 'Rex' } }], { body: { name: 'Rex' } }],
    ['of a get too', ['get', { url: '/pet', data: { limit: 3 } }], { body: { limit: 3 } }],
    ['and a list', ['put', { url: '/user/1/pets', data: [1, 2] }], { body: [1, 2] }],
    ['an empty list is one', ['put', { url: '/user/1/pets', data: [] }], { body: [] }],
    ['no data is no body', ['get', { url: '/pet', data: {} }], { body: undefined }],
    ['null is no body', ['get', { url: '/pet', data: null }], { body: undefined }],
    ['params is data of old', ['get', { url: '/pet', params: { name: 'x' } }], { body: { name: 'x' } }],
    ['data wins', ['get', { url: '/pet', params: { a: 1, b: 1 }, data: { b: 2 } }], { body: { a: 1, b: 2 } }],
    ['over a list too', ['put', { url: '/x', params: { a: 1 }, data: [1] }], { body: [1] }],
    ['the query string counts', ['get', { url: '/pet?a=1?&b', data: { c: 2 } }], { path: '/pet', query: 'a=1?&b' }],
    ['a fragment does not', ['get', { url: '/pet?a=1#top' }], { path: '/pet', query: 'a=1' }],
    ['a host is not part of the path', ['get', { url: 'http://x.example/pet?a' }], { path: '/pet', query: 'a' }],
    ['a host may be all there is', ['get', { url: 'https://x.example' }], { path: '/', query: '' }],
    ['a path begins with a slash', ['get', { url: 'pet' }], { path: '/pet' }],
    ['further arguments mean nothing', ['get', { url: '/pet' }, 1], { path: '/pet' }],
    [
      'headers are added',
      ['get', { url: '/', headers: { 'X-A': 'b', n: 1 } }],
      { headers: { ...begun, 'x-a': 'b', n: '1' } },
    ],
    ['or there are none', ['get', { url: '/', headers: {} }], { headers: begun }],
    ['what is no header is not', ['get', { url: '/', headers: { a: null, b: {}, c: [1] } }], { headers: begun }],
    ['nor are headers that are no object', ['get', { url: '/', headers: 'a: b' }], { headers: begun }],
  ]
  for (const [name, list, expected] of cases) {
    test(name, () => {
      const request = read(list)
      assert.ok(request)
      assert.equal(request.peer, peer)
      const found = Object.fromEntries(Object.keys(expected).map((key) => [key, request[key as keyof ServiceRequest]]))
      assert.deepEqual({ ...found, ...('headers' in found && { headers: { ...request.headers } }) }, expected)
    })
  }
})

describe('who asks is known from the connection, whatever the message says of', () => {
  const names = ['Cookie', 'HOST', 'origin', 'Referer', 'Sec-Fetch-Site', 'sec-purpose', 'X-Forwarded-For', 'Forwarded']
  for (const name of names) {
    test(name, () => assert.deepEqual(read(['get', { url: '/', headers: { [name]: 'forged' } }])?.headers, begun))
  }
})

test('events that are no methods are none of ours', () => {
  for (const event of ['nosuch', 'GET', 'constructor', 'connect', '', null, 1, {}]) {
    assert.equal(read([event, { url: '/pet' }]), undefined, JSON.stringify(event))
  }
})

describe('is no request', () => {
  const cases: readonly [name: string, text: string, told: RegExp][] = [
    ['what is no JSON', '["get",{', /not a list in JSON/],
    ['nothing', '["get"]', /not an object/],
    ['null', '["get",null]', /not an object/],
    ['a text', '["get","/pet"]', /not an object/],
    ['a list', '["get",[]]', /not an object/],
    ['an object without a url', '["get",{}]', /No url provided/],
    ['an empty url', '["get",{"url":""}]', /No url provided/],
    ['a number as url', '["get",{"url":5}]', /Invalid url/],
    ['a list as url', '["get",{"url":["/pet"]}]', /Invalid url/],
  ]
  for (const [name, text, told] of cases) {
    test(name, () => {
      assert.throws(
        () => readRequest(text, { peer, headers: begun }, limits),
        (error) => error instanceof Malformed && told.test(error.message),
      )
    })
  }
})

describe('what would be refused over HTTP is refused with the same code', () => {
  const cases: readonly [name: string, message: Json, code: string][] = [
    ['a long address', { url: `/${'é'.repeat(50)}` }, 'E_URL_TOO_LONG'],
    ['a deep body', { url: '/pet', data: { a: [{ b: {} }] } }, 'E_BAD_BODY'],
  ]
  for (const [name, message, code] of cases) {
    test(name, () => {
      assert.throws(
        () => read(['post', message]),
        (error) => error instanceof ServiceError && error.code === code,
      )
    })
  }
  test('and what is as long and as deep as allowed is not', () => {
    assert.ok(read(['post', { url: `/${'x'.repeat(99)}`, data: { a: [{ b: 1 }] } }]))
  })
})

test('whatever comes is a request, none of ours, or refused', () => {
  const key = fc.constantFrom('url', 'data', 'params', 'headers', 'method', '__proto__', 'constructor')
  const message = fc.dictionary(key, fc.oneof(fc.jsonValue(), fc.constantFrom('/pet', '/pet?a=1', 'http://')))
  const lists = fc.tuple(fc.constantFrom('get', 'post', 'nosuch'), fc.oneof(message, fc.jsonValue()))
  fc.assert(
    fc.property(lists, (list) => {
      try {
        const request = read(list as Json)
        if (!request) return
        assert.ok(request.path.startsWith('/'))
        assert.equal(request.headers.cookie, 'a=1')
        assert.equal(Object.getPrototypeOf({}), Object.prototype)
      } catch (error) {
        assert.ok(error instanceof Malformed || error instanceof ServiceError, String(error))
      }
    }),
    { numRuns: 1000 },
  )
})
