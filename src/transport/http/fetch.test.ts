import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Service } from '../../protocol/request.ts'
import { defaultLimits } from '../../support/limits.ts'
import { fetchHandler } from './fetch.ts'

const limits = { ...defaultLimits, maxBodyBytes: 100 }
const echo: Service = {
  handle: ({ body, path }) => ({ status: 200, headers: {}, body: { path, body: body ?? 'none' } }),
}
const handle = fetchHandler(echo, limits)

function streamed(chunks: readonly (string | Error)[]): {
  readonly request: Request
  readonly cancelled: () => boolean
} {
  let cancelled = false
  const waiting = [...chunks]
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const next = waiting.shift()
        if (next === undefined) controller.close()
        else if (next instanceof Error) controller.error(next)
        else controller.enqueue(new TextEncoder().encode(next))
      },
      cancel() {
        cancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  const request = new Request('http://x/pet', { method: 'POST', body, duplex: 'half' } as RequestInit)
  return { request, cancelled: () => cancelled }
}

describe('a streamed body', () => {
  test('is joined', async () => {
    const response = await handle(streamed(['{"a"', ':"', 'é"}']).request)
    assert.deepEqual(await response.json(), { path: '/pet', body: { a: 'é' } })
  })

  test('is refused as soon as it is too large', async () => {
    const { request, cancelled } = streamed(Array.from({ length: 50 }, () => 'x'.repeat(30)))
    assert.equal((await handle(request)).status, 413)
    assert.ok(cancelled())
  })

  test('that ends early is refused', async () => {
    const response = await handle(streamed(['{"a":', new Error('gone')]).request)
    assert.equal(response.status, 400)
    assert.doesNotMatch(await response.text(), /gone/)
  })

  test('is empty', async () => {
    assert.deepEqual(await (await handle(streamed([]).request)).json(), { path: '/pet', body: 'none' })
  })
})

test('a body that was already read is an error response, not a rejection', async () => {
  const request = new Request('http://x/pet', { method: 'POST', body: '{}' })
  await request.text()
  assert.equal((await handle(request)).status, 400)
})

test('an error of a streamed response is reported, and ends the response', async () => {
  const errors: unknown[] = []
  const broken = new Error('broken')
  async function* pieces() {
    yield 'a'
    throw broken
  }
  const service: Service = { handle: () => ({ status: 200, headers: {}, stream: pieces() }) }
  const fetch = fetchHandler(service, limits, { onError: (error) => errors.push(error) })
  await assert.rejects((await fetch(new Request('http://x/file'))).text())
  assert.deepEqual(errors, [broken])
})

test('a fragment is not part of the URL', async () => {
  assert.deepEqual(await (await handle(new Request('http://x/pet#top'))).json(), { path: '/pet', body: 'none' })
})

describe('the host of a request', () => {
  const service: Service = { handle: ({ site }) => ({ status: 200, headers: {}, body: site }) }
  const fetch = fetchHandler(service, limits, { allowedHosts: ['api.example'] })
  const browser = 'Mozilla/5.0 (X11; Linux x86_64)'
  const cases: readonly (readonly [name: string, url: string, headers: Record<string, string>, expected: unknown])[] = [
    ['a program, of any host', 'http://x/pet', {}, 'none'],
    ['a page of the URL', 'http://localhost:1337/pet', { origin: 'http://localhost:1337' }, 'same-origin'],
    ['a page of an allowed URL', 'https://api.example/pet', { origin: 'https://api.example' }, 'same-origin'],
    ['a page of another port', 'http://localhost/pet', { origin: 'http://localhost:1337' }, 'same-site'],
    ['a page of another host', 'http://localhost/pet', { origin: 'http://evil.example' }, 'cross-site'],
    ['a page of a rebound name', 'http://evil.example/pet', { origin: 'http://evil.example' }, 403],
    ['a page of a rebound name that names no page', 'http://evil.example/pet', { 'user-agent': browser }, 403],
    ['a page that names itself in Referer', 'http://evil.example/pet', { referer: 'http://evil.example/' }, 403],
    ['the Host before the URL', 'http://localhost/', { host: 'evil.example', origin: 'http://localhost' }, 403],
    ['the Host before that of the URL', 'http://evil.example/', { host: 'api.example' }, 'none'],
  ]
  for (const [name, url, headers, expected] of cases) {
    test(name, async () => {
      const response = await fetch(new Request(url, { method: 'POST', headers }))
      assert.deepEqual(response.status === 200 ? await response.json() : response.status, expected)
    })
  }
})

/** Content whose source fails before a piece is asked for, or when it is ended. */
const sources: readonly (readonly [title: string, method: string, status: number, stream: AsyncIterable<string>])[] = [
  ['that cannot be iterated', 'GET', 500, { [Symbol.asyncIterator]: () => assert.fail('no iterator') }],
  [
    'whose end rejects',
    'HEAD',
    200,
    {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: true, value: undefined }),
        return: async () => assert.fail('no end'),
      }),
    },
  ],
  [
    'whose end throws',
    'HEAD',
    200,
    {
      [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: '' }), return: () => assert.fail('') }),
    },
  ],
]
for (const [title, method, expected, stream] of sources) {
  test(`content ${title} is answered with ${expected}: the promise never rejects`, async () => {
    const failing = fetchHandler({ handle: () => ({ status: 200, headers: {}, stream }) }, limits, { onError() {} })
    const { status } = await failing(new Request('http://x/pet', { method }))
    assert.equal(status, expected)
  })
}
