import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type RequestListener, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { EncodedJson, type Json } from '../../protocol/json.ts'
import type { Service, ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import { defaultLimits } from '../../support/limits.ts'
import { fetchHandler } from './fetch.ts'
import { handler } from './serve.ts'

const limits = { ...defaultLimits, maxBodyBytes: 1000, maxUrlBytes: 200 }

/** Responds with the request it received, except for some paths. */
const answers: Readonly<Record<string, ServiceResponse>> = {
  '/encoded': { status: 201, headers: {}, body: new EncodedJson('{"name":"Réx"}') },
  '/null': { status: 200, headers: {}, body: null },
  '/none': { status: 200, headers: {} },
  '/no-content': { status: 204, headers: { 'X-Kept': 'yes' } },
  '/not-modified': { status: 304, headers: { ETag: '"1"' }, body: { not: 'sent' } },
  '/script': { status: 200, headers: { 'Content-Type': 'text/javascript' }, body: new EncodedJson('/**/f([])') },
  '/split': { status: 200, headers: { Location: 'x\r\nSet-Cookie: a=b' }, body: {} },
  '/odd-status': { status: 99, headers: {}, body: {} },
}
const service: Service = {
  handle({ method, path, query, body, headers }) {
    const answer = answers[path] ?? { status: 200, headers: {}, body: { method, path, query, body: body ?? 'none' } }
    if (path === '/throw') throw new Error('the password is swordfish')
    if (path === '/reject') return Promise.reject(new Error('the password is swordfish'))
    return headers['x-later'] ? new Promise((resolve) => setImmediate(resolve, answer)) : answer
  },
}

interface Sent {
  readonly method: string
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}
interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

async function withServer<T>(listener: RequestListener, work: (port: number) => Promise<T>): Promise<T> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await work((server.address() as AddressInfo).port)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

function ask(port: number, { method, target, headers, body }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const req = request({ port, host: '127.0.0.1', method, path: target, headers: headers ?? {} }, (res) => {
      const chunks: Buffer[] = []
      res.on('data', (chunk: Buffer) => chunks.push(chunk))
      res.on('end', () =>
        resolve({ status: res.statusCode ?? 0, headers: lasting(res.headers), text: Buffer.concat(chunks).toString() }),
      )
    })
    req.on('error', reject)
    req.end(body)
  })
}

/** Without the headers of the connection. */
function lasting(headers: IncomingHttpHeaders): Readonly<Record<string, unknown>> {
  const { date: _, connection: __, 'keep-alive': ___, ...rest } = headers
  return rest
}

async function fetched({ method, target, headers, body }: Sent): Promise<Answer> {
  const request = new Request(`http://127.0.0.1${target}`, { method, headers: headers ?? {}, body: body ?? null })
  const response = await fetchHandler(service, limits, { onError: () => {} })(request)
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() }
}

const get = (target: string, headers: Readonly<Record<string, string>> = {}): Sent => ({
  method: 'GET',
  target,
  headers,
})
const post = (body: string | Buffer, type = 'application/json'): Sent => ({
  method: 'POST',
  target: '/pet',
  headers: { 'content-type': type, 'content-length': String(Buffer.byteLength(body)) },
  body,
})

const exchanges: readonly [name: string, sent: Sent, status: number, text: string | RegExp][] = [
  ['a read', get('/pet?limit=3'), 200, '{"method":"GET","path":"/pet","query":"limit=3","body":"none"}'],
  ['an answer that takes time', get('/pet', { 'x-later': '1' }), 200, /"path":"\/pet"/],
  ['encoded JSON', get('/encoded'), 201, '{"name":"Réx"}'],
  ['null', get('/null'), 200, 'null'],
  ['an answer without a body', get('/none'), 200, ''],
  ['no content', get('/no-content'), 204, ''],
  ['not modified', get('/not-modified'), 304, ''],
  ['another content type', get('/script'), 200, '/**/f([])'],
  ['HEAD', { method: 'HEAD', target: '/encoded' }, 201, ''],
  ['HEAD of nothing', { method: 'HEAD', target: '/none' }, 200, ''],
  ['JSON', post('{"name":"Réx"}'), 200, /"body":\{"name":"Réx"\}/],
  ['a form', post('a[b]=1&c=2', 'application/x-www-form-urlencoded'), 200, /"body":\{"c":"2","a":\{"b":"1"\}\}/],
  ['an empty body', post(''), 200, /"body":"none"/],
  ['a body with DELETE', { ...post('{"id":1}'), method: 'DELETE' }, 200, /"body":\{"id":1\}/],
  ['a body with OPTIONS', { ...post('{'), method: 'OPTIONS' }, 200, /"body":"none"/],
  ['broken JSON', post('{"a":'), 400, /E_BAD_BODY.*position 5/],
  ['an unknown type', post('a', 'text/plain'), 415, /E_UNSUPPORTED_MEDIA_TYPE/],
  ['a body at the limit', post(`"${'x'.repeat(998)}"`), 400, /single value/],
  ['a body past the limit', post(`"${'x'.repeat(999)}"`), 413, /E_BODY_TOO_LARGE.*1000 bytes.*maxBodyBytes/],
  ['a Host that is not allowed', get('/pet', { host: 'evil.example' }), 403, /E_FORBIDDEN.*allowedHosts/],
  ['a long address', get(`/${'x'.repeat(200)}`), 414, /E_URL_TOO_LONG/],
  ['a header that would split the answer', get('/split'), 500, /E_INTERNAL/],
  ['a throwing service', get('/throw'), 500, /E_INTERNAL/],
  ['a rejecting service', get('/reject'), 500, /E_INTERNAL/],
]

describe('node:http and fetch respond alike to', () => {
  for (const [name, sent, status, text] of exchanges) {
    test(name, async () => {
      const overNode = await withServer(handler(service, limits, { onError: () => {} }), (port) => ask(port, sent))
      assert.equal(overNode.status, status)
      if (typeof text === 'string') assert.equal(overNode.text, text)
      else assert.match(overNode.text, text)
      assert.doesNotMatch(overNode.text, /swordfish/)
      assert.equal(overNode.headers['x-content-type-options'], 'nosniff')
      assert.equal(overNode.headers['set-cookie'], undefined)
      assert.deepEqual(await fetched(sent), overNode)
    })
  }
})

describe('headers', () => {
  const cases: readonly [target: string, method: string, type: string | undefined, length: string | undefined][] = [
    ['/encoded', 'GET', 'application/json; charset=utf-8', '15'],
    ['/encoded', 'HEAD', 'application/json; charset=utf-8', '15'],
    ['/script', 'GET', 'text/javascript', '9'],
    ['/throw', 'GET', 'application/problem+json; charset=utf-8', undefined],
    ['/none', 'GET', undefined, '0'],
    ['/no-content', 'GET', undefined, undefined],
    ['/not-modified', 'GET', undefined, undefined],
  ]
  for (const [target, method, type, length] of cases) {
    test(`of ${method} ${target}`, async () => {
      const { headers } = await withServer(handler(service, limits, { onError: () => {} }), (port) =>
        ask(port, { method, target }),
      )
      assert.equal(headers['content-type'], type)
      if (target !== '/throw') assert.equal(headers['content-length'], length)
    })
  }
})

test('an invalid status becomes a 500', async () => {
  const reported: unknown[] = []
  const listener = handler(service, limits, { onError: (error) => reported.push(error) })
  assert.equal((await withServer(listener, (port) => ask(port, get('/odd-status')))).status, 500)
  assert.equal(reported.length, 1)
})

test('a response that cannot be written leaves nothing of its status', async () => {
  const created = { handle: () => ({ status: 201, headers: { 'X-A': 'a\nb' } }) }
  const listener = handler(created, limits, { onError: () => {} })
  const { status, statusText } = await withServer(listener, (port) => fetch(`http://127.0.0.1:${port}/`))
  assert.deepEqual([status, statusText], [500, 'Internal Server Error'])
})

test('more than one Host is refused', async () => {
  const { status } = await withServer(handler(service, limits), (port) => {
    const headers = ['Host', 'localhost', 'host', 'localhost']
    return ask(port, { ...get('/pet'), headers: headers as unknown as Record<string, string> })
  })
  assert.equal(status, 400)
})

test('more than one Content-Type is refused', async () => {
  const { status } = await withServer(handler(service, limits), (port) => {
    const headers = ['Content-Type', 'application/json', 'content-TYPE', 'text/plain', 'Host', 'localhost']
    return ask(port, { ...post('{}'), headers: headers as unknown as Record<string, string> })
  })
  assert.equal(status, 415)
})

describe('in a framework', () => {
  const mounted =
    (body: unknown): RequestListener =>
    (req, res) => {
      Object.assign(req, { url: (req.url as string).replace(/^\/api/, '') || '/', body })
      res.setHeader('X-Powered-By', 'framework')
      handler(service, limits)(req, res)
    }

  const cases: readonly [name: string, body: unknown, status: number, seen: Json][] = [
    ['a parsed body is used', { name: 'Ann' }, 200, { name: 'Ann' }],
    ['a list is used', [1], 200, [1]],
    ['bytes are parsed', Buffer.from('{"name":"Bo"}'), 200, { name: 'Bo' }],
    ['text is parsed', '{"name":"Bo"}', 200, { name: 'Bo' }],
    ['null is no body', null, 200, 'none'],
    ['without one the body is read', undefined, 200, { name: 'Rex' }],
    ['what is no body is refused', 5, 400, 'none'],
  ]
  for (const [name, body, status, seen] of cases) {
    test(name, async () => {
      const sent = { ...post('{"name":"Rex"}'), target: '/api/pet?a=1' }
      const answer = await withServer(mounted(body), (port) => ask(port, sent))
      assert.equal(answer.status, status)
      assert.equal(answer.headers['x-powered-by'], 'framework')
      if (status === 200)
        assert.deepEqual(JSON.parse(answer.text), { method: 'POST', path: '/pet', query: 'a=1', body: seen })
    })
  }

  const left: readonly [name: string, marks: object, base: string | undefined][] = [
    ['nothing', {}, undefined],
    ['its base', { baseUrl: '/api', originalUrl: '/api/pet?a=1' }, '/api'],
    ['no base', { baseUrl: '', originalUrl: '/pet?a=1' }, ''],
    ['the whole address', { originalUrl: '/api/pet?a=1' }, '/api'],
    ['the same address', { originalUrl: '/pet?a=1' }, ''],
    ['another address', { originalUrl: '/elsewhere' }, undefined],
    ['what is no address', { baseUrl: 1, originalUrl: 2 }, undefined],
  ]
  for (const [name, marks, base] of left) {
    test(`that sets ${name} on the request, links begin with the mount point`, async () => {
      let seen: ServiceRequest | undefined
      const spy: Service = {
        handle(request) {
          seen = request
          return { status: 204, headers: {} }
        },
      }
      const listener: RequestListener = (req, res) => handler(spy, limits)(Object.assign(req, marks), res)
      await withServer(listener, (port) => ask(port, get('/pet?a=1')))
      assert.equal(seen?.base, base)
    })
  }

  test('a body that a middleware has read and dropped is no body', async () => {
    const listener: RequestListener = (req, res) => {
      req.resume()
      req.once('end', () => setImmediate(() => handler(service, limits)(req, res)))
    }
    assert.match((await withServer(listener, (port) => ask(port, post('{}')))).text, /"body":"none"/)
  })

  test('a response that a middleware has sent stays', async () => {
    const listener: RequestListener = (req, res) => {
      res.end('theirs')
      handler(service, limits)(req, res)
    }
    assert.equal((await withServer(listener, (port) => ask(port, get('/pet')))).text, 'theirs')
  })
})

test('the service receives the request as it was sent', async () => {
  let seen: ServiceRequest | undefined
  let came: IncomingMessage | undefined
  const spy: Service = {
    handle(request) {
      seen = request
      return { status: 204, headers: {} }
    },
  }
  await withServer(
    (req, res) => {
      came = req
      handler(spy, limits)(req, res)
    },
    (port) => ask(port, get('/pet?a=%20', { 'X-Mine': 'yes' })),
  )
  assert.equal(seen?.headers, came?.headers)
  assert.equal(seen?.headers['x-mine'], 'yes')
  assert.deepEqual([seen?.method, seen?.path, seen?.query, seen?.body], ['GET', '/pet', 'a=%20', undefined])
})

test('CORS works over node:http and over fetch', async () => {
  const origin = 'https://app.example'
  const options = { cors: { origins: [origin] } }
  const preflight = { method: 'OPTIONS', target: '/pet', headers: { origin, 'access-control-request-method': 'PUT' } }
  for (const [sent, status] of [
    [get('/pet', { origin }), 200],
    [preflight, 204],
    [{ ...post('x'.repeat(1001)), headers: { origin, 'content-length': '1001' } }, 413],
  ] as const) {
    const overNode = await withServer(handler(service, limits, options), (port) => ask(port, sent))
    assert.equal(overNode.status, status)
    assert.equal(overNode.headers['access-control-allow-origin'], origin)
    const request = new Request(`http://x${sent.target}`, {
      ...sent,
      body: 'body' in sent ? sent.body : null,
    } as RequestInit)
    const overFetch = await fetchHandler(service, limits, options)(request)
    assert.equal(overFetch.status, status)
    assert.equal(overFetch.headers.get('access-control-allow-origin'), origin)
  }
})
