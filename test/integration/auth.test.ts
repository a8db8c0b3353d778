import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { SignJWT } from 'jose'
import { action, createService } from '../../src/index.ts'
import { StreamClient } from '../support/event-stream.ts'
import { RawSocket } from '../support/raw-socket.ts'
import { SailsClient } from '../support/sails-client.ts'

/* Which user a request, a socket or a stream belongs to. */

const secret = 'a secret of at least thirty-two bytes'
const key = new TextEncoder().encode(secret)
const models = {
  note: {
    access: {
      read: ({ user }: { readonly user: { readonly id: string } | null }) => ({ owner: user?.id ?? null }),
      create: ({ user }: { readonly user: { readonly id: string } | null }) => user !== null && { owner: user.id },
      update: ({ user }: { readonly user: { readonly id: string } | null }) => ({ owner: user?.id ?? null }),
    },
    attributes: { text: { type: 'string' }, owner: { type: 'string' } },
  },
} as const

const open = (now: () => number = Date.now) =>
  createService({
    database: 'sqlite::memory:',
    auth: { jwt: { secret, issuer: 'issuer', audience: 'notes', cookie: 'token' } },
    clock: { now },
    models,
  })

const sign = (claims: object = {}, alg = 'HS256') =>
  new SignJWT({ iss: 'issuer', aud: 'notes', sub: 'ann', exp: Math.floor(Date.now() / 1000) + 60, ...claims })
    .setProtectedHeader({ alg })
    .sign(key)

describe('JSON Web Tokens', () => {
  let service: Awaited<ReturnType<typeof open>>
  let url: string
  before(async () => {
    service = await open()
    await service.system.records.note.create({ text: 'of Ann', owner: 'ann' })
    await service.system.records.note.create({ text: 'of Bob', owner: 'bob' })
    url = (await service.listen(0)).url
  })
  after(() => service.close())

  const texts = async (headers: Readonly<Record<string, string>>): Promise<string> => {
    const response = await fetch(`${url}/note`, { headers })
    if (!response.ok) return `${response.status} ${response.headers.get('www-authenticate')}`
    return ((await response.json()) as readonly { readonly text: string }[]).map(({ text }) => text).join()
  }
  const invalid = '401 Bearer error="invalid_token"'
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"sub":"ann"}').toString('base64url')}.`

  const cases: readonly (readonly [name: string, headers: () => Promise<Record<string, string>>, expected: string])[] =
    [
      ['no token is anonymous', async () => ({}), ''],
      ['a token of the header', async () => ({ Authorization: `Bearer ${await sign()}` }), 'of Ann'],
      ['a token of the cookie', async () => ({ Cookie: `a=b; token=${await sign({ sub: 'bob' })}` }), 'of Bob'],
      [
        'a token with an id and no sub',
        async () => ({ Authorization: `Bearer ${await sign({ sub: undefined, id: 'bob' })}` }),
        'of Bob',
      ],
      [
        'a token whose sub is null',
        async () => ({ Authorization: `Bearer ${await sign({ sub: null, id: 'bob' })}` }),
        'of Bob',
      ],
      [
        'the sub of a token is its id',
        async () => ({ Authorization: `Bearer ${await sign({ id: 'ann', sub: 'bob' })}` }),
        'of Bob',
      ],
      ['another scheme is no token', async () => ({ Authorization: 'Basic YTpi' }), ''],
      ['an end beyond all dates', async () => ({ Authorization: `Bearer ${await sign({ exp: 1e13 })}` }), 'of Ann'],
      ['an expired token', async () => ({ Authorization: `Bearer ${await sign({ exp: 1 })}` }), invalid],
      ['another audience', async () => ({ Authorization: `Bearer ${await sign({ aud: 'x' })}` }), invalid],
      ['another issuer', async () => ({ Authorization: `Bearer ${await sign({ iss: 'x' })}` }), invalid],
      ['another algorithm', async () => ({ Authorization: `Bearer ${await sign({}, 'HS512')}` }), invalid],
      ['no signature', async () => ({ Authorization: `Bearer ${unsigned}` }), invalid],
      ['no token at all', async () => ({ Authorization: 'Bearer nonsense' }), invalid],
      ['a token with a space', async () => ({ Authorization: `Bearer ${await sign()} x` }), invalid],
    ]
  for (const [name, headers, expected] of cases) {
    test(name, async () => assert.equal(await texts(await headers()), expected))
  }

  test('a socket is identified by its handshake, and receives what its user may read', async () => {
    const token = await sign()
    const ann = await SailsClient.connect(url, {
      initialConnectionHeaders: { Cookie: `token=${token}` },
      transports: ['polling'],
      transportOptions: { polling: { extraHeaders: { Cookie: `token=${token}` } } },
    })
    const anonymous = await SailsClient.connect(url)
    try {
      assert.deepEqual(
        (await ann.ask('get', '/note')).body.map(({ text }: { text: string }) => text),
        ['of Ann'],
      )
      assert.deepEqual((await anonymous.ask('get', '/note')).body, [])
      assert.equal((await anonymous.ask('post', '/note', { text: 'x', owner: 'ann' })).statusCode, 403)
      assert.equal((await ann.ask('post', '/note', { text: 'new', owner: 'ann' })).statusCode, 201)
      await service.system.records.note.update(2, { text: 'of Bob still' })
      await service.system.records.note.update(1, { text: 'of Ann still' })
      const before = await ann.until((_, { verb, id }) => verb === 'updated' && id === 1)
      assert.ok(before.every(([, { id }]) => id !== 2))
      assert.deepEqual(anonymous.events, [])
    } finally {
      ann.close()
      anonymous.close()
    }
  })
})

test('what a framework has left on a request reaches identify', async () => {
  const service = await createService({
    database: 'sqlite::memory:',
    auth: { identify: ({ frameworkUser }) => (frameworkUser as { readonly id: string } | undefined) ?? null },
    models,
  })
  await service.system.records.note.create({ text: 'of Ann', owner: 'ann' })
  const signIn = (request: IncomingMessage) => Object.assign(request, { user: { id: 'ann' } })
  const server = createServer((request, response) => service.handler(signIn(request), response))
  server.on('upgrade', (request, socket, head) => service.upgrade(signIn(request), socket, head))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const url = `http://127.0.0.1:${port}`
  const client = await SailsClient.connect(url, { transports: ['websocket'] })
  try {
    assert.equal(((await (await fetch(`${url}/note`)).json()) as unknown[]).length, 1)
    assert.equal((await client.ask('get', '/note')).body.length, 1)
  } finally {
    client.close()
    await service.close()
    server.closeAllConnections()
    server.close()
  }
})

test('a stream ends when its user expires', async () => {
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  const beats: (() => void)[] = []
  const service = await createService({
    database: 'sqlite::memory:',
    auth: { identify: () => ({ id: 'ann', expiresAt: '2026-01-01T00:01:00Z' }) },
    clock: {
      now: () => nowMs,
      every: (_, work) => {
        beats.push(work)
        return { [Symbol.dispose]: () => {} }
      },
    },
    models,
  })
  const { url, port } = await service.listen(0)
  const stream = await StreamClient.open(port, '/note')
  try {
    assert.equal((await stream.next())?.event, 'ready')
    nowMs += 120_000
    for (const beat of beats) beat()
    assert.equal((await stream.next())?.event, 'restart')
    assert.equal((await fetch(`${url}/note`)).status, 200)
    assert.deepEqual(await (await fetch(`${url}/note`)).json(), [])
  } finally {
    await service.close()
  }
})

test('a socket is closed when its user expires, and a request that it sends then is not executed', async () => {
  const expiresAt = Date.now() + 2000
  await using service = await createService({
    database: 'sqlite::memory:',
    auth: { identify: () => ({ id: 'ann', expiresAt: new Date(expiresAt).toISOString() }) },
    models,
  })
  const { url } = await service.listen(0)
  await using socket = await RawSocket.connect(url)
  assert.equal((await socket.ask('get', { url: '/note' })).statusCode, 200)
  while (Date.now() <= expiresAt) await new Promise((resolve) => setTimeout(resolve, 1))
  socket.send(`429${JSON.stringify(['post', { url: '/note', data: { text: 'late', owner: 'ann' } }])}`)
  assert.equal(await socket.closed, 1008)
  assert.deepEqual(socket.received, [])
  assert.equal(await service.system.records.note.count(), 0)
})

test('a stream of shapes ends when its user expires', async () => {
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  const beats = new Set<() => void>()
  const service = await createService({
    database: 'sqlite::memory:',
    shapes: '/shape',
    auth: { identify: () => ({ id: 'ann', expiresAt: '2026-01-01T00:01:00Z' }) },
    clock: {
      now: () => nowMs,
      every: (_, work) => {
        beats.add(work)
        return { [Symbol.dispose]: () => beats.delete(work) }
      },
    },
    models,
  })
  const { url } = await service.listen(0)
  try {
    const { headers } = await fetch(`${url}/shape?table=note&offset=-1`)
    const place = `handle=${headers.get('electric-handle')}&offset=${headers.get('electric-offset')}`
    const idle = beats.size
    const stream = await fetch(`${url}/shape?table=note&live=true&live_sse=true&${place}`)
    assert.equal(beats.size, idle + 1)
    for (const beat of [...beats]) beat()
    assert.equal(beats.size, idle + 1, 'the user is still signed in')
    nowMs += 120_000
    for (const beat of [...beats]) beat()
    assert.match(await stream.text(), /up-to-date/)
    assert.equal(beats.size, idle)
  } finally {
    await service.close()
  }
})

for (const expiresAt of [new Date('2020-01-01'), 1_577_836_800, true]) {
  test(`a user whose end is not a text is refused: ${JSON.stringify(expiresAt)}`, async () => {
    const errors: string[] = []
    const service = await createService({
      database: 'sqlite::memory:',
      auth: { identify: () => ({ id: 'ann', expiresAt }) },
      onError: (error) => errors.push(String(error)),
      models,
    })
    try {
      const { url } = await service.listen(0)
      assert.equal((await fetch(`${url}/note`)).status, 500)
      assert.deepEqual(errors, ['TypeError: expiresAt of a user must be a time in ISO 8601'])
      assert.throws(() => service.as({ id: 'ann', expiresAt }), /must be a time in ISO 8601/)
    } finally {
      await service.close()
    }
  })
}

describe('what is found as a user', () => {
  const access = { read: ({ user }: { readonly user: object | null }) => user !== null }
  const askedAs = async (found: unknown, way: 'identify' | 'jwt') => {
    const errors: string[] = []
    const user = () => found as null
    await using service = await createService({
      database: 'sqlite::memory:',
      auth: way === 'jwt' ? { jwt: { secret, user } } : { identify: user },
      models: { note: { access, attributes: { text: { type: 'string' } } } },
      onError: (error) => errors.push(String(error)),
    })
    const { url } = await service.listen(0)
    const response = await fetch(`${url}/note`, { headers: { Authorization: `Bearer ${await sign()}` } })
    await response.text()
    return [response.status, ...errors]
  }
  // As the queries of Knex and Mongoose do.
  const query = (result: unknown) => ({
    // biome-ignore lint/suspicious/noThenProperty: it is what is tested
    then: (resolve: (value: unknown) => void) => resolve(result),
  })
  const refused = [500, 'TypeError: A user must be an object or null, not a list or a promise']

  for (const way of ['identify', 'jwt'] as const) {
    for (const [what, found, expected] of [
      ['an object', { id: 'ann' }, [200]],
      ['null', null, [403]],
      ['undefined', undefined, [403]],
      ['a query that finds a user', query({ id: 'ann' }), [200]],
      ['a query that finds no user', query(null), [403]],
      ['false', false, refused],
      ['a text', 'ann', refused],
      ['an empty list', [], refused],
    ] as const)
      test(`${what}, by ${way}`, async () => assert.deepEqual(await askedAs(found, way), expected))
  }

  test('a promise is not a user of service.as', async () => {
    await using service = await open()
    assert.throws(() => service.as(Promise.resolve({ id: 'ann' }) as never), /must be an object or null/)
  })

  test('a token ends where its user has null as its end', async () => {
    let nowMs = Date.now()
    const beats: (() => void)[] = []
    const every = (_: number, work: () => void) => {
      beats.push(work)
      return { [Symbol.dispose]: () => {} }
    }
    await using service = await createService({
      database: 'sqlite::memory:',
      auth: { jwt: { secret } },
      clock: { now: () => nowMs, every },
      models: { note: { access, attributes: { text: { type: 'string' } } } },
    })
    const { port } = await service.listen(0)
    const headers = { Authorization: `Bearer ${await sign({ expiresAt: null })}` }
    const stream = await StreamClient.open(port, '/note', { headers })
    assert.equal((await stream.next())?.event, 'ready')
    nowMs += 120_000
    for (const beat of beats) beat()
    assert.equal((await stream.next())?.event, 'restart')
  })
})

describe('the id of a user', () => {
  const repeated = async (idOf: (name: string) => unknown) => {
    const errors: string[] = []
    await using service = await createService({
      database: 'sqlite::memory:',
      auth: { identify: ({ headers }) => ({ ...(idOf(String(headers['x-user'])) as object), role: 'member' }) },
      models: { note: { access: { read: true, create: true }, attributes: { text: { type: 'string' } } } },
      onError: (error) => errors.push(String(error)),
    })
    const { url } = await service.listen(0)
    const answers: string[] = []
    for (const name of ['1', '2', '1']) {
      const headers = { 'X-User': name, 'Idempotency-Key': 'k', 'Content-Type': 'application/json' }
      const response = await fetch(`${url}/note`, { method: 'POST', headers, body: '{"text":"a"}' })
      await response.text()
      answers.push(`${response.status} ${response.headers.get('Idempotency-Replayed')}`)
    }
    return { answers, errors: [...new Set(errors)] }
  }

  for (const [what, idOf] of [
    ['a big integer', (name: string) => ({ id: BigInt(name) })],
    ['a number', (name: string) => ({ sub: Number(name) })],
    ['a text besides no id', (name: string) => ({ id: null, sub: name })],
  ] as const) {
    test(`distinguishes users: ${what}`, async () => {
      const { answers, errors } = await repeated(idOf)
      assert.deepEqual([answers, errors], [['201 null', '201 null', '201 true'], []])
    })
  }

  for (const [what, idOf] of [
    ['an object', (name: string) => ({ id: { value: name } })],
    ['bytes', (name: string) => ({ id: Buffer.from(name) })],
    ['a list', (name: string) => ({ sub: [name] })],
    ['true', () => ({ id: true })],
    ['not a number', (name: string) => ({ id: Number(`user ${name}`) })],
  ] as const) {
    test(`is refused where it does not distinguish users: ${what}`, async () => {
      const { answers, errors } = await repeated(idOf)
      assert.deepEqual(answers, ['500 null', '500 null', '500 null'])
      assert.deepEqual(errors, ['TypeError: The id or sub of a user must be a string, a number or a bigint'])
    })
  }
})

test('the landing page names what the requester may read', async () => {
  const service = await createService({
    database: 'sqlite::memory:',
    auth: { identify: ({ headers }) => (headers.authorization ? { role: 'hr' } : null) },
    models: {
      person: {
        access: 'public',
        attributes: {
          name: { type: 'string' },
          salary: { type: 'number', access: { read: 'hr' } },
          tax: { type: 'number', computed: ['salary'], get: ({ salary }) => salary, access: { read: 'hr' } },
          initial: { type: 'string', computed: ['name', 'salary'], get: ({ name }) => name },
          boss: { model: 'person', access: { read: 'hr' } },
          reports: { collection: 'person', via: 'boss' },
        },
        indexes: [['name', 'salary']],
      },
    },
  })
  const { url } = await service.listen(0)
  const secrets = /salary|tax|boss|reports/
  try {
    for (const accept of ['application/json', 'text/html']) {
      const page = (headers: Record<string, string>) => fetch(url, { headers: { accept, ...headers } })
      const [first, hr, anonymous] = [await page({}), await page({ authorization: 'x' }), await page({})]
      assert.equal(first.headers.get('cache-control')?.includes('public'), false)
      assert.doesNotMatch(await first.text(), secrets)
      const shown = await hr.text()
      for (const name of ['salary', 'tax', 'boss', 'reports', 'initial']) assert.ok(shown.includes(name), name)
      assert.doesNotMatch(await anonymous.text(), secrets)
    }
  } finally {
    await service.close()
  }
})

describe('what caches may keep', () => {
  const [privately, varies] = ['private, no-cache', 'Authorization, Cookie']
  const cases: readonly (readonly [line: string, status: number, cacheControl: string, vary: string | null])[] = [
    ['GET /note', 200, privately, `Accept, ${varies}`],
    ['GET /note?callback=f', 200, privately, `Accept, ${varies}`],
    ['GET /note/9', 404, privately, varies],
    ['GET /nothing', 404, privately, varies],
    ['GET /note?sort=nothing', 400, privately, varies],
    ['POST /note', 403, privately, varies],
    ['GET /note/update/9?text=x', 404, privately, varies],
    ['GET /', 200, privately, `Accept, ${varies}`],
  ]

  test('with auth, an answer is for one requester', async () => {
    await using service = await open()
    const { url } = await service.listen(0)
    for (const [line, status, cacheControl, vary] of cases) {
      const [method = '', path] = line.split(' ')
      const response = await fetch(`${url}${path}`, { method, headers: { Cookie: `token=${await sign()}` } })
      const found = [response.status, response.headers.get('cache-control'), response.headers.get('vary')]
      assert.deepEqual(found, [status, cacheControl, vary], line)
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    }
    const refused = await fetch(`${url}/note`, { headers: { Authorization: 'Bearer nonsense' } })
    assert.deepEqual([refused.status, refused.headers.get('cache-control')], [401, privately])
    const headers = { Cookie: `token=${await sign()}` }
    const tag = (await fetch(`${url}/note`, { headers })).headers.get('etag') as string
    const known = await fetch(`${url}/note`, { headers: { ...headers, 'If-None-Match': tag } })
    assert.deepEqual([known.status, known.headers.get('cache-control')], [304, privately])
  })

  test('without auth, every requester gets the same, and nothing is said', async () => {
    await using service = await createService({ database: 'memory:', models: { note: { attributes: {} } } })
    const { url } = await service.listen(0)
    const response = await fetch(`${url}/note`)
    assert.equal(response.headers.get('cache-control'), null)
    assert.equal(response.headers.get('vary'), 'Accept')
  })
})

test('what code of the application never ends is answered with 503 after hookTimeoutMs, which names it', async () => {
  const never = () => new Promise<never>(() => {})
  const schema = { '~standard': { version: 1, vendor: 'test', validate: never } } as never
  await using service = await createService({
    database: 'memory:',
    limits: { hookTimeoutMs: 30 },
    models: { pet: { attributes: { tags: { type: 'json', schema } } } },
    actions: { take: action({ on: 'service', input: schema, run: () => null }) },
    auth: { identify: ({ headers }) => (headers.authorization ? never() : null) },
  })
  const { url } = await service.listen(0)
  const json = { 'content-type': 'application/json' }
  for (const [path, init, what] of [
    ['/pet', { headers: { authorization: 'x' } }, 'auth.identify'],
    ['/pet', { method: 'POST', headers: json, body: '{"tags":[1]}' }, 'The schema of pet.tags'],
    ['/take', { method: 'POST', headers: json, body: '{}' }, 'The schema of the input of "take"'],
  ] as const) {
    const response = await fetch(url + path, init)
    const { code, limit, detail } = (await response.json()) as Record<string, string>
    assert.deepEqual([response.status, code, limit], [503, 'E_TIMEOUT', 'hookTimeoutMs'])
    assert.equal(detail, `${what} took longer than 30 ms`)
  }
})
