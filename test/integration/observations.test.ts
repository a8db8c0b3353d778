import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SignJWT } from 'jose'
import { createService, type Logger } from '../../src/index.ts'
import { databases } from '../support/databases.ts'
import { RawSocket } from '../support/raw-socket.ts'

const models = { pet: { attributes: { name: { type: 'string' } } } } as const

function recorded() {
  const entries: (readonly [level: string, data: object, message: string])[] = []
  const write = (level: string) => (data: object, message: string) => void entries.push([level, data, message])
  const logger: Logger = { info: write('info'), warn: write('warn'), error: write('error') }
  return { logger, entries }
}

test('a logger receives each request, without its query string, over HTTP and sockets', async () => {
  const { logger, entries } = recorded()
  const service = await createService({ models, database: 'memory:', logger })
  const { url } = await service.listen(0)
  await fetch(`${url}/pet?name=secret`)
  await fetch(`${url}/nosuch`)
  await fetch(`${url}/pet`, { method: 'POST', body: '{', headers: { 'content-type': 'application/json' } })
  await using socket = await RawSocket.connect(url)
  await socket.ask('get', { url: '/pet/1?name=secret' })
  await socket.ask('get', { url: '/1\n\u001b[2J\u009bGET /pet' })
  await service.close()
  assert.deepEqual(
    entries.map(([level, data]) => [level, { ...data, ms: 0 }]),
    [
      ['info', { kind: 'request', transport: 'http', method: 'GET', path: '/pet', status: 200, ms: 0 }],
      ['info', { kind: 'request', transport: 'http', method: 'GET', path: '/nosuch', status: 404, ms: 0 }],
      ['info', { kind: 'request', transport: 'http', method: 'POST', path: '/pet', status: 400, ms: 0 }],
      ['info', { kind: 'request', transport: 'socket', method: 'GET', path: '/pet/1', status: 404, ms: 0 }],
      [
        'info',
        {
          kind: 'request',
          transport: 'socket',
          method: 'GET',
          path: '/1\n\u001b[2J\u009bGET /pet',
          status: 404,
          ms: 0,
        },
      ],
    ],
  )
  assert.match(entries[0]?.[2] ?? '', /^GET \/pet 200 \d+\.\d ms$/)
  // Of a socket, a URL may have line breaks and other controls of a terminal.
  assert.match(entries[4]?.[2] ?? '', /^GET \/1%0A%1B\[2J%C2%9BGET \/pet 404 \d+\.\d ms$/)
})

test('a listener that throws or rejects is reported on the console, and costs no request its answer', async (context) => {
  const printed = context.mock.method(console, 'error', () => {})
  const failing: readonly Partial<Parameters<typeof createService>[0]>[] = [
    { onError: () => assert.fail('no disk') },
    { onError: async () => assert.fail('no disk') },
    { logger: { info: () => assert.fail('no disk'), warn() {}, error: () => assert.fail('no disk') } },
  ]
  for (const listeners of failing) {
    const broken = { attributes: {}, hooks: { before: { create: () => assert.fail('broken') } } }
    const service = await createService({ models: { pet: broken }, database: 'memory:', ...listeners } as never)
    const { url } = await service.listen(0)
    printed.mock.resetCalls()
    assert.equal((await fetch(`${url}/pet`, { method: 'POST' })).status, 500)
    assert.equal((await fetch(`${url}/pet`)).status, 200)
    await service.close()
    const [, error] = printed.mock.calls[0]?.arguments ?? []
    assert.match(String(error), /no disk/)
  }
})

test('a logger receives each origin once whose pages may not use the service, and the option that allows them', async () => {
  const { logger, entries } = recorded()
  const cors = { origins: ['https://listed.example'] }
  const service = await createService({ models, database: 'memory:', logger, cors, sockets: { onlyAllowOrigins: [] } })
  const { url } = await service.listen(0)
  const pages = ['http://localhost:5173', 'http://localhost:5173', 'https://listed.example', url, 'null', 'no origin']
  for (const origin of pages) {
    const headers = { origin, 'access-control-request-method': 'POST' }
    await fetch(`${url}/pet`, { method: 'OPTIONS', headers })
  }
  await fetch(`${url}/socket.io/?EIO=4&transport=polling`, { headers: { origin: 'https://listed.example' } })
  for (let port = 1; port <= 30; port++) await fetch(`${url}/pet`, { headers: { origin: `http://a.example:${port}` } })
  await service.close()
  const refused = entries.filter(([, data]) => (data as { kind: string }).kind === 'pageRefused')
  assert.deepEqual(refused.slice(0, 3), [
    [
      'info',
      { kind: 'pageRefused', origin: 'http://localhost:5173', option: 'cors' },
      "Pages of http://localhost:5173 may not use this service; the configuration would allow them: cors: { origins: ['http://localhost:5173'] }",
    ],
    [
      'info',
      { kind: 'pageRefused', origin: 'null', option: 'cors' },
      'A page without an origin, such as one that was opened as a file, may not use this service: serve it over HTTP, for example from the folder public',
    ],
    [
      'info',
      { kind: 'pageRefused', origin: 'https://listed.example', option: 'sockets.onlyAllowOrigins' },
      "Pages of https://listed.example may not use this service; the configuration would allow them: sockets: { onlyAllowOrigins: ['https://listed.example'] }",
    ],
  ])
  assert.equal(refused.length, 20)
})

test('a logger receives each reason once for which tokens are refused, without what they contain', async () => {
  const { logger, entries } = recorded()
  const secret = 'a secret of at least thirty-two bytes'
  const jwt = { secret, issuer: 'issuer', audience: 'pets' }
  const service = await createService({ models, database: 'memory:', logger, auth: { jwt } })
  const now = Math.floor(Date.now() / 1000)
  const sign = (claims: object, { key = secret, alg = 'HS256' } = {}) =>
    new SignJWT({ iss: 'issuer', aud: 'pets', ...claims })
      .setProtectedHeader({ alg })
      .sign(new TextEncoder().encode(key))
  const tokens = [
    await sign({ exp: now - 60 }),
    await sign({ exp: now - 90 }),
    await sign({ iss: 'another' }),
    await sign({ aud: 'owners' }),
    await sign({ nbf: now + 60 }),
    await sign({ exp: 'soon' }),
    await sign({}, { key: `${secret}, another` }),
    await sign({}, { key: secret.repeat(2), alg: 'HS512' }),
    'no.token.at-all',
  ]
  for (const token of tokens) {
    const headers = { authorization: `Bearer ${token}` }
    assert.equal((await service.fetch(new Request('http://localhost/pet', { headers }))).status, 401)
  }
  await service.close()
  const refused = entries.filter(([, data]) => (data as { kind: string }).kind === 'tokenRefused')
  assert.deepEqual(
    refused.map(([level, , message]) => `${level}: ${message}`),
    [
      'its time "exp" has passed',
      'its "iss" is not auth.jwt.issuer',
      'its "aud" is not auth.jwt.audience',
      'its time "nbf" has not come',
      'one of its times is not a number',
      'its signature was made with another key',
      'its algorithm is not one of auth.jwt.algorithms',
      'it is not a signed JSON Web Token',
    ].map((reason) => `info: A token was refused: ${reason}`),
  )
})

test('a logger and onError both receive an unexpected error', async () => {
  const { logger, entries } = recorded()
  const reported: unknown[] = []
  const service = await createService({
    models,
    database: 'memory:',
    logger,
    onError: (error) => reported.push(error),
    uuid: () => 'x',
    clock: {
      now() {
        throw new Error('the clock is broken')
      },
    },
  })
  const request = new Request('http://localhost/pet', { method: 'POST', body: 'name=Rex' })
  request.headers.set('content-type', 'application/x-www-form-urlencoded')
  assert.equal((await service.fetch(request)).status, 500)
  await service.close()
  assert.deepEqual(
    entries.filter(([level]) => level === 'error').map(([, , message]) => message),
    ['the clock is broken'],
  )
  assert.equal(reported.length, 1)
})

for (const database of databases) {
  if (database.name === 'memory') continue
  test(`a logger receives statements without values, and scans, ${database.name}`, {
    skip: database.missing ?? false,
    timeout: 60_000,
  }, async () => {
    const { logger, entries } = recorded()
    await using opened = await database.open()
    const debug = (data: object, message: string) => void entries.push(['debug', data, message])
    await using service = await createService({ models, database: opened.url, logger: { ...logger, debug } })
    const { pet } = service.system.records
    for (let index = 0; index < 1_500; index += 100)
      await Promise.all(Array.from({ length: 100 }, (_, place) => pet.create({ name: `name ${index + place}` })))
    await pet.find({ where: { name: { contains: 'secret' } } })
    const kinds = (kind: string) => entries.filter(([, data]) => (data as { kind?: string }).kind === kind)
    assert.ok(kinds('statement').length > 1_500)
    assert.match(kinds('statement').at(-1)?.[2] ?? '', /^(?:Statement|Slow statement), \d+\.\d ms: select /)
    // PostgreSQL decides by its statistics, which it collects later.
    if (database.name === 'sqlite')
      assert.match(
        kinds('scan').at(-1)?.[2] ?? '',
        /^A query of pet (?:reads all rows of pet|takes long); no index can serve it$/,
      )
    assert.doesNotMatch(JSON.stringify(kinds('statement')), /secret|name 7/)
  })
}
