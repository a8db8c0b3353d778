import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { isPublicAddress, publicAddressOf } from './public-address.ts'
import { webhook } from './webhook.ts'

const key = Buffer.alloc(32, 7)
const secret = `whsec_${key.toString('base64')}`
const event = { eventId: 'evt_1', verb: 'created', model: 'pet', at: '2026-01-05T12:00:00.000Z' }
const context = () => ({ event, signal: new AbortController().signal })

for (const [address, isPublic] of [
  ['93.184.216.34', true],
  ['2606:2800:220:1:248:1893:25c8:1946', true],
  ['127.0.0.1', false],
  ['0.0.0.0', false],
  ['10.1.2.3', false],
  ['172.31.255.255', false],
  ['192.168.1.1', false],
  ['100.64.0.1', false],
  ['169.254.169.254', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['::', false],
  ['::1', false],
  ['::ffff:127.0.0.1', false],
  ['::ffff:93.184.216.34', false],
  ['64:ff9b::7f00:1', false],
  ['2002:7f00:1::', false],
  ['fe80::1', false],
  ['fd00:ec2::254', false],
  ['ff02::1', false],
  ['not an address', false],
] as const) {
  test(`${address} is ${isPublic ? '' : 'not '}public`, () => assert.equal(isPublicAddress(address), isPublic))
}

for (const host of ['localhost', '[::1]', '127.0.0.1', new URL('https://0x7f.1/').hostname]) {
  test(`nothing is sent to ${host} unless it is allowed`, async () => {
    await assert.rejects(publicAddressOf(host, false), { retry: false })
    await assert.doesNotReject(publicAddressOf(host, true))
  })
}

test('an event is posted with a signature that its receiver can verify, and what is answered decides', async () => {
  const bodies: string[] = []
  let status = 204
  const headers: Record<string, string> = {}
  await using server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    bodies.push(body)
    Object.assign(headers, request.headers)
    response.writeHead(status, { 'retry-after': '7', location: 'http://127.0.0.1:1/' }).end('x'.repeat(100))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=private`
  const hook = webhook(url, { secret, allowPrivate: true })
  await hook.run({ id: 1, name: 'Rex' }, context())
  assert.deepEqual(JSON.parse(bodies[0] as string), {
    type: 'pet.created',
    timestamp: event.at,
    data: { id: 1, name: 'Rex' },
  })
  const signed = `evt_1.${headers['webhook-timestamp']}.${bodies[0]}`
  assert.equal(headers['webhook-id'], 'evt_1')
  assert.equal(headers['webhook-signature'], `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  for (const [answered, retry] of [
    [500, undefined],
    [302, undefined],
    [410, false],
  ] as const) {
    status = answered
    await assert.rejects(hook.run({}, context()), (error: Error & { retryAfterMs: number; retry?: boolean }) => {
      assert.deepEqual([error.retryAfterMs, error.retry], [7_000, retry])
      assert.doesNotMatch(inspect([error, hook]), /private|whsec|token/)
      return true
    })
  }
  assert.equal(bodies.length, 4)
  assert.equal(webhook(url, { secret, allowPrivate: true }).sameAs, hook.sameAs)
})

for (const [what, answer, outcome] of [
  [
    'a few informational answers',
    `${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(3)}HTTP/1.1 204 No Content\r\n\r\n`,
    undefined,
  ],
  [
    'informational answers without an end',
    'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100),
    /does not come to an answer/,
  ],
  [
    'another protocol',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
    /without an answer/,
  ],
] as const)
  test(`a receiver that answers with ${what}`, { timeout: 10_000 }, async (t) => {
    const received: Socket[] = []
    const server = createTcpServer((socket) => {
      received.push(socket.on('error', () => {}))
      // The receiver itself closes nothing.
      socket.once('data', () => socket.write(answer))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => {
      for (const socket of received) socket.destroy()
      server.close()
    })
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const ran = webhook(url, { secret, allowPrivate: true }).run({ id: 1 }, context())
    if (outcome) await assert.rejects(ran, outcome)
    else await ran
  })

test('a wrong declaration is refused without its secret', () => {
  for (const [url, given] of [
    ['http://example.com/', secret],
    ['ftp://example.com/', secret],
    ['nothing', secret],
    ['https://example.com/', 'hunter2'],
    ['https://example.com/', 'whsec_c2hvcnQ='],
  ] as const) {
    assert.throws(
      () => webhook(url, { secret: given }),
      (error: Error) => error instanceof TypeError && !error.message.includes(given),
    )
  }
  assert.throws(() => webhook('https://example.com/', { secret: [] }), /needs a secret/)
})
