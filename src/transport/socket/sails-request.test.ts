import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ServiceError } from '../../protocol/errors.ts'
import type { Peer } from '../../protocol/event.ts'
import type { Json } from '../../protocol/json.ts'
import type { ServiceRequest } from '../../protocol/request.ts'
import { defaultLimits } from '../../support/limits.ts'
import { MalformedMessage, readRequest } from './sails-request.ts'

const peer: Peer = { id: 'p', mirror: false, send: () => true, reset: () => {} }
const shared = { host: 'pets.example', cookie: 'a=1', 'user-agent': 'test' }
const limits = { ...defaultLimits, maxUrlBytes: 100, maxJsonDepth: 3 }

const read = (list: Json) => readRequest(JSON.stringify(list), { peer, headers: shared }, limits)

describe('a message is parsed as a request:', () => {
  const cases: readonly [name: string, list: Json, expected: Partial<ServiceRequest>][] = [
    [
      'the name of the event is the method',
      ['get', { url: '/pet' }],
      { method: 'GET', path: '/pet', query: '', body: undefined },
    ],
    ['a method in the message is ignored', ['put', { method: 'delete', url: '/pet/1' }], { method: 'PUT' }],
    ...['post', 'patch', 'delete', 'head', 'options'].map(
      (event) => [event, [event, { url: '/pet' }], { method: event.toUpperCase() }] as [string, Json, object],
    ),
    ['data is the body', ['post', { url: '/pet', data: { name: 'Rex' } }], { body: { name: 'Rex' } }],
    ['data is the body of a get', ['get', { url: '/pet', data: { limit: 3 } }], { body: { limit: 3 } }],
    ['a list is a body', ['put', { url: '/user/1/pets', data: [1, 2] }], { body: [1, 2] }],
    ['an empty list is a body', ['put', { url: '/user/1/pets', data: [] }], { body: [] }],
    ['empty data is no body', ['get', { url: '/pet', data: {} }], { body: undefined }],
    ['null is no body', ['get', { url: '/pet', data: null }], { body: undefined }],
    ['params is an older name of data', ['get', { url: '/pet', params: { name: 'x' } }], { body: { name: 'x' } }],
    [
      'data takes precedence over params',
      ['get', { url: '/pet', params: { a: 1, b: 1 }, data: { b: 2 } }],
      { body: { a: 1, b: 2 } },
    ],
    ['a list takes precedence over params', ['put', { url: '/x', params: { a: 1 }, data: [1] }], { body: [1] }],
    ['the query string is kept', ['get', { url: '/pet?a=1?&b', data: { c: 2 } }], { path: '/pet', query: 'a=1?&b' }],
    ['a fragment is removed', ['get', { url: '/pet?a=1#top' }], { path: '/pet', query: 'a=1' }],
    ['scheme and host are removed', ['get', { url: 'http://x.example/pet?a' }], { path: '/pet', query: 'a' }],
    ['a URL without a path', ['get', { url: 'https://x.example' }], { path: '/', query: '' }],
    ['a slash is put in front of a path', ['get', { url: 'pet' }], { path: '/pet' }],
    ['further arguments are ignored', ['get', { url: '/pet' }, 1], { path: '/pet' }],
    [
      'headers are added to those of the connection',
      ['get', { url: '/', headers: { 'X-A': 'b', n: 1 } }],
      { headers: { ...shared, 'x-a': 'b', n: '1' } },
    ],
    ['empty headers add nothing', ['get', { url: '/', headers: {} }], { headers: shared }],
    [
      'header values of other types are ignored',
      ['get', { url: '/', headers: { a: null, b: {}, c: [1] } }],
      { headers: shared },
    ],
    ['headers of another type are ignored', ['get', { url: '/', headers: 'a: b' }], { headers: shared }],
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

describe('a message cannot set the header', () => {
  const names = ['Cookie', 'HOST', 'origin', 'Referer', 'Sec-Fetch-Site', 'sec-purpose', 'X-Forwarded-For', 'Forwarded']
  for (const name of names) {
    test(name, () => assert.deepEqual(read(['get', { url: '/', headers: { [name]: 'forged' } }])?.headers, shared))
  }
})

test('events not named for a method are ignored', () => {
  for (const event of ['nosuch', 'GET', 'constructor', 'connect', '', null, 1, {}]) {
    assert.equal(read([event, { url: '/pet' }]), undefined, JSON.stringify(event))
  }
})

describe('a malformed message:', () => {
  const cases: readonly [name: string, text: string, expected: RegExp][] = [
    ['invalid JSON', '["get",{', /not a JSON list/],
    ['no argument', '["get"]', /not an object/],
    ['null', '["get",null]', /not an object/],
    ['a string', '["get","/pet"]', /not an object/],
    ['a list', '["get",[]]', /not an object/],
    ['an object without a url', '["get",{}]', /No url provided/],
    ['an empty url', '["get",{"url":""}]', /No url provided/],
    ['a number as url', '["get",{"url":5}]', /Invalid url/],
    ['a list as url', '["get",{"url":["/pet"]}]', /Invalid url/],
  ]
  for (const [name, text, expected] of cases) {
    test(name, () => {
      assert.throws(
        () => readRequest(text, { peer, headers: shared }, limits),
        (error) => error instanceof MalformedMessage && expected.test(error.message),
      )
    })
  }
})

const several = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))

describe('limits have the error codes of HTTP:', () => {
  const cases: readonly [name: string, message: Json, code: string][] = [
    ['a long URL', { url: `/${'é'.repeat(50)}` }, 'E_URL_TOO_LONG'],
    ['a deep body', { url: '/pet', data: { a: [{ b: {} }] } }, 'E_BAD_BODY'],
    ['many names', { url: '/pet', data: Object.fromEntries(several(20_000, (i) => [`name${i}`, 1])) }, 'E_BAD_BODY'],
    ['many values', { url: '/pet', data: { a: several(160_000, () => 1) } }, 'E_BAD_BODY'],
    ['a long header', { url: '/pet', headers: { 'if-none-match': ','.repeat(17_000) } }, 'E_BAD_REQUEST'],
    [
      'many headers',
      { url: '/pet', headers: Object.fromEntries(several(200, (i) => [`h${i}`, 'x'.repeat(100)])) },
      'E_BAD_REQUEST',
    ],
  ]
  for (const [name, message, code] of cases) {
    test(name, () => {
      assert.throws(
        () => read(['post', message]),
        (error) => error instanceof ServiceError && error.code === code,
      )
    })
  }
  test('a URL and a body at the limits are accepted', () => {
    assert.ok(read(['post', { url: `/${'x'.repeat(99)}`, data: { a: [{ b: 1 }] } }]))
  })
})

test('any JSON is a request, ignored, or refused', () => {
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
        assert.ok(error instanceof MalformedMessage || error instanceof ServiceError, String(error))
      }
    }),
    { numRuns: 1000 },
  )
})
