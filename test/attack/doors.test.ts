import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { createService, type HttpServer, type Service } from '../../src/index.ts'
import { RawSocket } from '../support/raw-socket.ts'

const models = { pet: { attributes: { name: { type: 'string' } } } } as const
const origin = 'https://app.example'

type Headers = Readonly<Record<string, string>> | readonly string[]
interface Answer {
  readonly status: number
  readonly text: string
}

let service: Service
let server: HttpServer

before(async () => {
  service = (await createService({
    models,
    database: 'memory:',
    cors: { origins: [origin] },
    auth: { identify: ({ cookies }) => (cookies.sid === undefined ? null : { id: cookies.sid }) },
  })) as never
  server = await service.listen(0)
  await service.system.records.pet?.create({ name: 'Rex' })
})
after(() => service.close())

const ask = (method: string, path: string, headers: Headers, body?: string): Promise<Answer> =>
  request(method, path, Array.isArray(headers) ? ['Host', `127.0.0.1:${server.port}`, ...headers] : headers, body)

/** Headers are sent as given, also several times. */
const request = (method: string, path: string, headers: Headers, body?: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const request = httpRequest({ port: server.port, method, path, headers: headers as never }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode as number, text }))
    })
    request.on('error', reject)
    request.end(body)
  })

/** The status of the answer to a WebSocket handshake. */
const upgradeStatus = (path: string, headers: readonly string[]): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const request = httpRequest({ port: server.port, path, headers })
    request.on('upgrade', ({ statusCode }, socket) => {
      socket.destroy()
      resolve(statusCode)
    })
    request.on('response', ({ statusCode }) => resolve(statusCode))
    request.on('error', reject)
    request.end()
  })

const count = async (): Promise<number> => JSON.parse((await ask('GET', '/pet?populate=false', {})).text).length

const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' }
const json = { 'content-type': 'application/json' }
const text = { 'content-type': 'text/plain' }
const create = '/pet/create?name=Evil'
const post = ['POST', '/pet'] as const

describe('nothing is written by', () => {
  const body = '{"name":"Evil"}'
  const cases: readonly [
    name: string,
    method: string,
    path: string,
    headers: Headers,
    status: number,
    body?: string,
  ][] = [
    ['an image of another site', 'GET', create, { ...browser, 'sec-fetch-site': 'cross-site' }, 403],
    ['an image of another site on plain HTTP', 'GET', create, browser, 403],
    [
      'a browser that repeats a header',
      'GET',
      create,
      { ...browser, 'sec-fetch-site': 'same-origin, cross-site' },
      403,
    ],
    ['a link with a referrer of another site', 'GET', create, { ...browser, referer: 'http://evil.example/' }, 403],
    ['an image of another port', 'GET', create, { ...browser, 'sec-fetch-site': 'same-site' }, 403],
    ['an image of a page that cors lists', 'GET', create, { ...browser, 'sec-fetch-site': 'cross-site', origin }, 403],
    ['a prefetch of the same page', 'GET', create, { 'sec-fetch-site': 'same-origin', 'sec-purpose': 'prefetch' }, 403],
    ['a prerender of the address bar', 'GET', create, { 'sec-fetch-site': 'none', 'sec-purpose': 'Prerender' }, 403],
    ['a prefetch of an old Firefox', 'GET', create, { 'sec-fetch-site': 'same-origin', 'x-moz': 'prefetch' }, 403],
    ['a preview of Safari', 'GET', create, { 'sec-fetch-site': 'none', 'x-purpose': 'preview' }, 403],
    ['an absolute URL of another host', 'POST', 'http://evil.example/pet', json, 400, body],
    ['a JSONP script of another site', 'GET', `${create}&callback=f`, { 'sec-fetch-site': 'cross-site' }, 403],
    ['a rebound DNS name', ...post, { ...json, host: 'evil.example', origin: 'http://evil.example' }, 403, body],
    ['a rebound DNS name by a shortcut', 'GET', create, { host: 'evil.example:1337' }, 403],
    [
      'a form of another site',
      ...post,
      { ...json, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      403,
      body,
    ],
    ['a form of another site with JSON as text', ...post, { ...text, origin: 'https://evil.example' }, 415, body],
    ['a form without a site', ...post, { ...json, origin: 'null' }, 403, body],
    [
      'a form of another port',
      ...post,
      { ...json, 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' },
      403,
      body,
    ],
    [
      'an origin that claims to be the same',
      ...post,
      { ...json, 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
      403,
      body,
    ],
    ['an origin that begins like a listed one', ...post, { ...json, origin: `${origin}.evil.example` }, 403, body],
    ['a listed origin by another protocol', ...post, { ...json, origin: 'http://app.example' }, 403, body],
    [
      'a request with two Host headers',
      ...post,
      ['Host', 'evil.example', 'Content-Type', 'application/json'],
      400,
      body,
    ],
    [
      'a request with two content types',
      ...post,
      ['Content-Type', 'text/plain', 'Content-Type', 'application/json'],
      415,
      body,
    ],
    [
      'a request with two content types, the first of which is JSON',
      ...post,
      ['Content-Type', 'application/json', 'Content-Type', 'text/plain'],
      415,
      body,
    ],
    ['a content type with a suffix', ...post, { 'content-type': 'application/json, text/plain' }, 415, body],
    ['a method in a header', ...post, { ...json, 'x-http-method-override': 'DELETE' }, 400, '{"nosuch":1}'],
  ]
  for (const [name, method, path, headers, status, body] of cases) {
    test(name, async () => {
      const before = await count()
      assert.equal((await ask(method, path, headers, body)).status, status)
      assert.equal(await count(), before)
    })
  }
})

describe('nothing is read by', () => {
  const cases: readonly [name: string, path: string, headers: Headers, status: number][] = [
    ['a rebound DNS name', '/pet', { host: 'evil.example' }, 403],
    ['a rebound DNS name with an address in it', '/pet', { host: '127.0.0.1.evil.example' }, 403],
    ['a rebound DNS name that begins like localhost', '/pet', { host: 'localhost.evil.example' }, 403],
    ['a rebound DNS name that ends like localhost', '/pet', { host: 'evillocalhost' }, 403],
    ['a script of another site', '/pet?callback=f', { ...browser, 'sec-fetch-site': 'cross-site' }, 403],
    ['a script of another site on plain HTTP', '/pet?callback=f', browser, 403],
    [
      'a script of another site with its referrer',
      '/pet?callback=f',
      { ...browser, referer: 'http://evil.example/' },
      403,
    ],
    ['a callback that is code', '/pet?callback=alert(1)', {}, 400],
    ['a callback of 10 kB', `/pet?callback=${'f'.repeat(10_000)}`, {}, 400],
    ['a callback that ends with NUL', '/pet?callback=f%00', {}, 400],
    ['a callback with a member that is code', '/pet?callback=f[alert(1)]', {}, 400],
    ['a callback with a statement behind it', '/pet?callback=f;alert', {}, 400],
    ['a callback with markup', '/pet?callback=%3Cscript%3E', {}, 400],
    ['a callback with a line separator', '/pet?callback=f%E2%80%A8', {}, 400],
  ]
  for (const [name, path, headers, status] of cases) {
    test(name, async () => {
      const answer = await ask('GET', path, headers)
      assert.equal(answer.status, status)
      assert.doesNotMatch(answer.text, /Rex/)
    })
  }
})

describe('what must work does', () => {
  const cases: readonly [name: string, method: string, path: string, headers: Headers, body?: string][] = [
    ['curl writes by a shortcut', 'GET', '/pet/create?name=Ann', { 'user-agent': 'curl/8.5.0' }],
    [
      'a page of the service writes by a shortcut',
      'GET',
      '/pet/create?name=Ann',
      { ...browser, 'sec-fetch-site': 'same-origin' },
    ],
    [
      'a page of the service writes by a shortcut, on plain HTTP',
      'GET',
      '/pet/create?name=Ann',
      { ...browser, host: '192.168.1.5', referer: 'http://192.168.1.5/page' },
    ],
    ['the address bar writes by a shortcut', 'GET', '/pet/create?name=Ann', { ...browser, 'sec-fetch-site': 'none' }],
    ['a listed page writes', ...post, { ...json, 'sec-fetch-site': 'cross-site', origin }, '{"name":"Ann"}'],
    ['a page of the same site reads by JSONP', 'GET', '/pet?callback=f', { ...browser, 'sec-fetch-site': 'same-site' }],
    ['a program reads by JSONP', 'GET', '/pet?callback=f', {}],
  ]
  for (const [name, method, path, headers, body] of cases) {
    test(name, async () => {
      const { status, text } = await ask(method, path, headers, body)
      assert.ok(status === 200 || status === 201, `${status} ${text}`)
    })
  }

  test('JSONP of an unknown address is a script', async () => {
    const { status, text } = await ask('GET', '/nosuch?callback=f', {})
    assert.equal(status, 404)
    assert.match(text, /^\/\*\*\/ typeof f === 'function' && f\(\{.*"code":"E_NO_SUCH_ROUTE".*\}\);$/)
  })

  test('JSONP of what is not JSON changes nothing', async () => {
    const { text } = await ask('GET', '/keelson.js?callback=f', {})
    assert.equal(text, (await ask('GET', '/keelson.js', {})).text)
  })
})

describe('sockets', () => {
  const handshake = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' }
  const refused: readonly [name: string, headers: readonly string[], status: number][] = [
    ['a page of another site', ['Host', '127.0.0.1', 'Origin', 'https://evil.example'], 403],
    ['a page of another port', ['Host', '127.0.0.1', 'Origin', 'http://127.0.0.1:1'], 403],
    ['a rebound DNS name', ['Host', 'evil.example', 'Origin', 'http://evil.example'], 403],
    ['a rebound DNS name without an origin', ['Host', 'evil.example'], 403],
    ['a request with two Host headers', ['Host', '127.0.0.1', 'Host', 'evil.example'], 400],
  ]
  for (const [name, headers, status] of refused) {
    test(`${name} is refused`, async () => {
      const key = ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ==']
      const given = [...headers, ...Object.entries(handshake).flat(), ...key]
      assert.equal(await upgradeStatus('/socket.io/?EIO=4&transport=websocket', given), status)
      assert.equal((await request('GET', '/socket.io/?EIO=4&transport=polling', headers)).status, status)
    })
  }

  test('HEAD has no body', async () => {
    await using socket = await RawSocket.connect(server.url)
    const answer = await socket.ask('head', { url: '/pet' })
    assert.equal(answer.statusCode, 200)
    assert.equal('body' in answer, false)
  })
})

test('with jsonp: false a callback is no parameter', async () => {
  await using closed = await createService({ models, database: 'memory:', jsonp: false })
  const response = await closed.fetch(new Request('http://localhost/pet?callback=f'))
  assert.deepEqual([response.status, await response.json()], [200, []])
})

describe("jsonp: 'cross-site'", () => {
  test('reads anonymously, whatever the browser sends along', async () => {
    const seen: unknown[] = []
    await using open = await createService({
      models,
      database: 'memory:',
      jsonp: 'cross-site',
      auth: {
        identify: ({ headers }) => {
          seen.push(headers.cookie)
          return { id: 'user' }
        },
      },
    })
    const { url } = await open.listen(0)
    const headers = { 'sec-fetch-site': 'cross-site', cookie: 'sid=1' }
    const response = await fetch(`${url}/pet?callback=f`, { headers })
    assert.equal(response.status, 200)
    assert.deepEqual(seen, [])
    assert.equal((await fetch(`${url}/pet/create?name=x&callback=f`, { headers })).status, 403)
  })
})
