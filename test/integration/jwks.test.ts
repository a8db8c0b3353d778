import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, describe, mock, test } from 'node:test'
import { exportJWK, exportSPKI, type GenerateKeyPairResult, generateKeyPair, SignJWT } from 'jose'
import { io } from 'socket.io-client'
import { createService } from '../../src/index.ts'

/* Tokens whose keys are published by a server of the issuer. */

interface PublishedKey extends GenerateKeyPairResult {
  readonly kid: string
}
const newKey = async (kid: string): Promise<PublishedKey> => ({ ...(await generateKeyPair('RS256')), kid })

/** What the issuer answers. */
let answer: (response: ServerResponse) => void
let issuer: Server
const publish = async (...keys: readonly PublishedKey[]) => {
  const published = await Promise.all(
    keys.map(async ({ publicKey, kid }) => ({ ...(await exportJWK(publicKey)), kid, alg: 'RS256' })),
  )
  answer = (response) => response.end(JSON.stringify({ keys: published }))
}

const seconds = () => Math.floor(Date.now() / 1_000)
const claims = () => ({ sub: 'ann', iss: 'issuer', aud: 'notes', exp: seconds() + 3_600 })
const sign = ({ privateKey, kid }: PublishedKey, others: object = {}) =>
  new SignJWT({ ...claims(), ...others }).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey)
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

const errors: unknown[] = []
async function open() {
  const { port } = issuer.address() as AddressInfo
  const service = await createService({
    database: 'sqlite::memory:',
    onError: (error) => errors.push(error),
    auth: { jwt: { jwksUri: `http://127.0.0.1:${port}/keys`, issuer: 'issuer', audience: 'notes' } },
    models: {
      note: {
        access: { read: ({ user }) => user !== null && { owner: String(user.id) } },
        attributes: { owner: { type: 'string' } },
      },
    },
  })
  await service.system.records.note.create({ owner: 'ann' })
  const { url } = await service.listen(0)
  const ask = async (token?: string) => {
    const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` }
    const response = await fetch(`${url}/note`, { headers })
    return { status: response.status, headers: response.headers, body: (await response.json()) as { length?: number } }
  }
  return { url, ask, [Symbol.asyncDispose]: () => service.close() }
}

async function afterSeconds(seconds: number, run: () => Promise<void>): Promise<void> {
  const now = performance.now.bind(performance)
  const later = mock.method(performance, 'now', () => now() + seconds * 1000)
  await run().finally(() => later.mock.restore())
}

/** The message with which a socket is refused. */
function refusalOf(url: string, token: string): Promise<string> {
  const extraHeaders = { Authorization: `Bearer ${token}` }
  const socket = io(url, { transports: ['websocket'], extraHeaders, reconnection: false })
  return new Promise<string>((resolve) => {
    socket.on('connect', () => resolve('connected'))
    socket.on('connect_error', ({ message }) => resolve(message))
  }).finally(() => socket.close())
}

describe('keys of an issuer', () => {
  let key: PublishedKey
  before(async () => {
    key = await newKey('first')
    issuer = createServer((_, response) => answer(response))
    await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve))
  })
  after(() => {
    issuer.closeAllConnections()
    issuer.close()
  })
  afterEach(() => errors.splice(0))

  test('a token of a published key is that of its user; every other is refused', async () => {
    await publish(key)
    await using service = await open()
    const { status, body } = await service.ask(await sign(key))
    assert.deepEqual([status, body.length], [200, 1])
    assert.equal((await service.ask(await sign(key, { nbf: seconds() + 3 }))).status, 200)
    const input = `${part({ alg: 'HS256', kid: key.kid })}.${part(claims())}`
    const signature = createHmac('sha256', await exportSPKI(key.publicKey))
      .update(input)
      .digest('base64url')
    const refused = {
      'another issuer': await sign(key, { iss: 'x' }),
      'another audience': await sign(key, { aud: 'x' }),
      expired: await sign(key, { exp: seconds() - 10 }),
      'not valid yet': await sign(key, { nbf: seconds() + 10 }),
      'a key that is not published': await sign(await newKey('second')),
      'another key under the same name': await sign(await newKey('first')),
      'no signature': `${part({ alg: 'none', kid: key.kid })}.${part(claims())}.`,
      'the public key as a shared secret': `${input}.${signature}`,
    }
    for (const [what, token] of Object.entries(refused)) assert.equal((await service.ask(token)).status, 401, what)
    assert.deepEqual(errors, [])
  })

  test('a key that replaces another one is fetched, and the other is not accepted any more', async () => {
    await publish(key)
    await using service = await open()
    assert.equal((await service.ask(await sign(key))).status, 200)
    const next = await newKey('next')
    await publish(next)
    mock.timers.enable({ apis: ['Date'], now: Date.now() + 31_000 })
    try {
      assert.equal((await service.ask(await sign(next))).status, 200)
      assert.equal((await service.ask(await sign(key))).status, 401)
    } finally {
      mock.timers.reset()
    }
  })

  const failures: Readonly<Record<string, (response: ServerResponse) => void>> = {
    'refuses connections': (response) => response.socket?.destroy(),
    'answers 500': (response) => response.writeHead(500).end(),
    'answers with a page': (response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>Later</p>'),
    'refers to another address': (response) => response.writeHead(302, { Location: 'http://127.0.0.1:9/' }).end(),
    'answers with something else': (response) => response.end('{"keys":[7]}'),
  }
  for (const [what, fails] of Object.entries(failures)) {
    test(`an issuer that ${what}: the request may be repeated, and is not anonymous`, async () => {
      answer = fails
      await using service = await open()
      const token = await sign(key)
      const { status, headers, body } = await service.ask(token)
      assert.deepEqual([status, headers.get('Retry-After'), headers.get('WWW-Authenticate')], [503, '2', null])
      assert.match(JSON.stringify(body), /The keys of the tokens cannot be fetched/)
      assert.equal((await service.ask(token)).status, 503)
      assert.equal(errors.length, 1)
      assert.equal(await refusalOf(service.url, token), 'Service unavailable')
      assert.equal((await service.ask()).status, 403)
      await publish(key)
      await afterSeconds(2, async () => assert.equal((await service.ask(token)).status, 200))
    })
  }

  for (const [what, fails] of Object.entries(failures)) {
    test(`an issuer that ${what} is asked once for the tokens of two seconds, also beside tokens of a known key`, async () => {
      await publish(key)
      await using service = await open()
      assert.equal((await service.ask(await sign(key))).status, 200)
      let asked = 0
      answer = (response) => {
        asked++
        fails(response)
      }
      const other = await newKey('other')
      const burst = async () => {
        for (let number = 0; number < 5; number++) {
          const tokens = await Promise.all([sign(other), sign(key), sign(other, { sub: `${number}` })])
          const answers = await Promise.all(tokens.map((token) => service.ask(token)))
          assert.deepEqual(
            answers.map(({ status }) => status),
            [503, 200, 503],
          )
        }
      }
      mock.timers.enable({ apis: ['Date'], now: Date.now() + 31_000 })
      try {
        await burst()
        assert.equal(asked, 1)
        await afterSeconds(2, burst)
        assert.equal(asked, 2)
      } finally {
        mock.timers.reset()
      }
      assert.equal(errors.length, 1)
    })
  }

  test('an answer without end is received up to maxBodyBytes', async () => {
    let written = 0
    const closed = Promise.withResolvers<void>()
    answer = (response) => {
      const writeOn = () => {
        if (response.closed) return
        written += 65_536
        if (response.write(Buffer.alloc(65_536, ' '))) setImmediate(writeOn)
      }
      response.on('drain', writeOn).on('close', closed.resolve)
      writeOn()
    }
    await using service = await open()
    assert.equal((await service.ask(await sign(key))).status, 503)
    await closed.promise
    assert.match(String((errors[0] as Error).cause), /more than 1048576 bytes/)
    assert.ok(written < 64_000_000, `${written} bytes`) // of which the most are in buffers
  })
})
