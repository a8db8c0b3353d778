import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { get, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import * as v from 'valibot'
import { action, createService, file, type HttpServer, reply } from '../../../src/index.ts'

/* What only HTTP has: files and streams, headers, methods, other origins, and bodies that no client library sends. */

const folder = mkdtempSync(join(tmpdir(), 'keelson-actions-'))
writeFileSync(join(folder, 'report.csv'), 'a;b\n')
writeFileSync(join(folder, 'empty.txt'), '')
symlinkSync(join(folder, 'report.csv'), join(folder, 'link.csv'))

const errors: unknown[] = []
/** What streams have been asked for and how they ended. */
const streamed = { pieces: 0, ended: Promise.withResolvers<void>(), aborted: false }

const open = () =>
  createService({
    database: 'sqlite::memory:',
    onError: (error) => errors.push(error),
    models: {
      country: {
        primaryKey: 'code',
        attributes: {
          code: { type: 'string', required: true },
          name: { type: 'string' },
          cities: { collection: 'city', via: 'country' },
        },
        actions: { merge: action({ on: 'model', run: () => 'merged' }) },
      },
      city: { attributes: { name: { type: 'string' }, country: { model: 'country' } } },
    },
    actions: {
      bytes: action({ on: 'service', run: () => file(Buffer.from('<b>1</b>'), { name: 'x.html', inline: true }) }),
      path: action({
        on: 'service',
        method: 'GET',
        input: v.object({ name: v.string() }),
        run: ({ input }) => file({ path: join(folder, input.name) }),
      }),
      readable: action({
        on: 'service',
        run: () => file(Readable.from(['a', 'b']), { name: 'é".txt', type: 'text/plain' }),
      }),
      web: action({ on: 'service', run: () => new Blob(['web']).stream() }),
      late: action({
        on: 'service',
        run: ({ tx }) => {
          async function* late() {
            yield `${await tx.city.count()}`
          }
          return late()
        },
      }),
      endless: action({
        on: 'service',
        method: 'GET',
        run: ({ signal }) => {
          async function* endless() {
            try {
              for (;;) {
                streamed.pieces++
                yield 'x'.repeat(65_536)
              }
            } finally {
              streamed.aborted = signal.aborted
              streamed.ended.resolve()
            }
          }
          return endless()
        },
      }),
      cookie: action({
        on: 'service',
        run: () => reply({ ok: true }, { headers: { 'set-cookie': 'a=1', 'content-type': 'application/hal+json' } }),
      }),
      smuggle: action({ on: 'service', run: () => reply(1, { headers: { 'Content-Length': '0' } }) }),
      split: action({ on: 'service', run: () => reply(1, { headers: { 'X-A': 'b\r\nX-C: d' } }) }),
      status: action({ on: 'service', run: () => reply(1, { status: 500 }) }),
      beyond: action({
        on: 'service',
        input: v.object({
          status: v.optional(v.number()),
          name: v.optional(v.string()),
          value: v.optional(v.string()),
        }),
        run: async ({ input: { status = 200, name = 'X-A', value = 'a' }, tx }) => {
          await tx.city.create({ name: 'Oslo' })
          return reply(status === 200 ? undefined : 1, { status, headers: { [name]: value } })
        },
      }),
      echo: action({
        on: 'service',
        input: v.looseObject({}),
        run: ({ input }) => ({
          input,
          own: Object.keys(input),
          polluted: ({} as Record<string, unknown>).polluted ?? null,
        }),
      }),
    },
  })
let service: Awaited<ReturnType<typeof open>>
let server: HttpServer
before(async () => {
  service = await open()
  server = await service.listen(0)
})
after(async () => {
  await server.stop()
  await service.close()
  rmSync(folder, { recursive: true })
})

const ask = async (method: string, path: string, body?: string, headers: Record<string, string> = {}) => {
  const response = await fetch(server.url + path, {
    method,
    headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
    ...(body !== undefined && { body }),
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

const files: readonly (readonly [
  line: string,
  status: number,
  text: string | RegExp,
  headers: Record<string, string | null>,
])[] = [
  [
    'POST /bytes',
    200,
    '<b>1</b>',
    {
      'content-type': 'text/html; charset=utf-8',
      'content-disposition': 'inline; filename=x.html',
      'content-length': '8',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
      'cache-control': 'no-store',
    },
  ],
  [
    'GET /path?name=report.csv',
    200,
    'a;b\n',
    {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename=report.csv',
      'content-length': '4',
    },
  ],
  ['HEAD /path?name=report.csv', 200, '', { 'content-length': '4' }],
  ['GET /path?name=empty.txt', 200, '', { 'content-length': '0' }],
  ['GET /path?name=link.csv', 500, /E_INTERNAL/, {}],
  ['GET /path?name=missing.csv', 500, /E_INTERNAL/, { 'content-disposition': null }],
  ['GET /path?name=.', 500, /E_INTERNAL/, {}],
  [
    'POST /readable',
    200,
    'ab',
    {
      'content-type': 'text/plain',
      'content-disposition': 'attachment; filename="?\\".txt"; filename*=UTF-8\'\'%C3%A9%22.txt',
    },
  ],
  ['POST /web', 200, 'web', { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment' }],
  ['POST /cookie', 200, '{"ok":true}', { 'set-cookie': 'a=1', 'content-type': 'application/hal+json' }],
  ['POST /smuggle', 500, /E_INTERNAL/, {}],
  ['POST /split', 500, /E_INTERNAL/, { 'x-c': null }],
  ['POST /status', 500, /E_INTERNAL/, {}],
]
for (const [line, status, text, headers] of files) {
  test(`${line} answers ${status}`, async () => {
    const [method = '', path = ''] = line.split(' ')
    const answer = await ask(method, path)
    assert.equal(answer.status, status, answer.text)
    if (typeof text === 'string') assert.equal(answer.text, text)
    else assert.match(answer.text, text)
    for (const [name, value] of Object.entries(headers)) assert.equal(answer.headers.get(name), value, name)
    assert.doesNotMatch(answer.text, /at .*\.ts:|keelson-actions-/)
  })
}

test('a stream that uses the transaction after its commit ends without its last chunk', async () => {
  errors.length = 0
  await assert.rejects(ask('POST', '/late'))
  assert.match(String(errors[0]), /transaction has ended/)
})

test('a stream waits for a slow client, and ends when the client disconnects', async () => {
  const client = get(`${server.url}/endless`)
  const [response] = await once(client, 'response')
  await once(response, 'readable')
  const { pieces } = streamed
  // The client reads no more: only what the buffers of the connection hold is produced.
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  assert.ok(streamed.pieces < pieces + 200, `${streamed.pieces} pieces`)
  response.destroy()
  await streamed.ended.promise
  assert.equal(streamed.aborted, true)
})

for (const input of [{ value: '/city/名前' }, { value: 'a\nb' }, { name: 'a b' }, { status: 204 }, { status: 304 }]) {
  test(`a reply that HTTP does not allow is rolled back: ${JSON.stringify(input)}`, async () => {
    errors.length = 0
    assert.equal((await ask('POST', '/beyond', JSON.stringify(input))).status, 500)
    assert.equal(errors.length, 1)
    assert.equal(await service.system.records.city.count(), 0)
    errors.length = 0
  })
}

test('where an id may be text, other methods of the address mean the record', async () => {
  await service.system.records.country.create({ code: 'merge', name: 'Merge' })
  assert.equal((await ask('POST', '/country/merge')).text, '"merged"')
  assert.equal((await ask('POST', '/country/MERGE')).text, '"merged"')
  assert.match((await ask('GET', '/country/merge')).text, /"name":"Merge"/)
  assert.equal((await ask('GET', '/country/merge/cities')).text, '[]')
  assert.equal((await ask('PATCH', '/country/merge', '{"name":"M"}')).status, 200)
  assert.equal((await ask('OPTIONS', '/country/merge')).headers.get('allow')?.includes('PATCH'), true)
  assert.equal((await ask('DELETE', '/country/merge')).status, 200)
})

test('pages of other sites run no action by POST', async () => {
  const foreign = { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }
  assert.equal((await ask('POST', '/echo', '{}', foreign)).status, 403)
  assert.equal((await ask('POST', '/echo', '{}', { Host: 'evil.example' })).status, 200, 'fetch sets Host itself')
  assert.equal(
    (await ask('GET', '/path?name=report.csv', undefined, foreign)).headers.get('access-control-allow-origin'),
    null,
  )
})

const bodies: readonly (readonly [what: string, body: string, status: number, text: RegExp])[] = [
  ['a prototype', '{"__proto__":{"polluted":1},"a":1}', 200, /"polluted":null/],
  ['a constructor', '{"constructor":{"prototype":{"polluted":1}}}', 200, /"polluted":null/],
  ['no JSON', '{', 400, /E_BAD_BODY/],
  ['null', 'null', 400, /E_BAD_BODY/],
  ['text', '"x"', 400, /E_BAD_BODY/],
  ['deep nesting', `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`, 400, /E_BAD_BODY/],
  ['a callback', '{"callback":"alert"}', 200, /"own":\["callback"\]/],
]
for (const [what, body, status, text] of bodies) {
  test(`a body with ${what} answers ${status}`, async () => {
    const answer = await ask('POST', '/echo', body)
    assert.equal(answer.status, status, answer.text)
    assert.match(answer.text, text)
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false)
  })
}

test('a body above the limit is refused before the action runs', async () => {
  const client = request(`${server.url}/echo`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Content-Length': '2000000' },
  })
  client.on('error', () => {})
  client.flushHeaders()
  const [response] = await once(client, 'response')
  assert.equal(response.statusCode, 413)
  client.destroy()
})

test('a callback in the query string is one of the transport, and no input', async () => {
  const answer = await ask('POST', '/echo?callback=f&_=1', '{"a":1}')
  assert.match(answer.text, /^\/\*\*\/ typeof f === 'function' && f\(\{"input":\{"a":1\}/)
})

test('the handler for Request and Response answers alike', async () => {
  const response = await service.fetch(new Request('http://localhost/readable', { method: 'POST' }))
  assert.equal(await response.text(), 'ab')
  assert.equal(response.headers.get('content-type'), 'text/plain')
})
