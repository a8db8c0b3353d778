import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { blockEventLoop } from '../../../test/support/block-event-loop.ts'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import type { Service, ServiceResponse } from '../../protocol/request.ts'
import { defaultLimits } from '../../support/limits.ts'
import { Connections } from './connections.ts'
import { handler } from './serve.ts'

test('many requests in one piece are answered in order, and others have their turn in between', async (t) => {
  const count = 40
  let turns = 0
  const paths: string[] = []
  const handle = ({ path }: { readonly path: string }) => {
    paths.push(path)
    blockEventLoop(3)
    return { status: 200, headers: {}, body: path }
  }
  const server = createServer(handler({ handle }, defaultLimits)).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const timer = setInterval(() => turns++, 0)
  const socket = connect((server.address() as { port: number }).port, '127.0.0.1')
  const expected = Array.from({ length: count }, (_, index) => `/${index}`)
  const post = 'POST /last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}'
  socket.write(expected.map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join('') + post)
  let received = ''
  socket.setEncoding('utf8').on('data', (text) => {
    received += text
  })
  await once(socket, 'close')
  clearInterval(timer)
  assert.deepEqual(paths, [...expected, '/last'])
  assert.deepEqual(
    [...received.matchAll(/"(\/\w+)"/g)].map(([, path]) => path),
    [...expected, '/last'],
  )
  assert.ok(turns >= 5, `${turns} turns of the event loop`)
})

/** A server that counts its turns; each of its answers takes 2 ms. */
async function serve(
  t: TestContext,
  onRequest: (req: IncomingMessage, res: ServerResponse, turn: number) => void,
  handle: Service['handle'] = ({ path }) => {
    blockEventLoop(2)
    return { status: 200, headers: {}, body: path }
  },
  limits = defaultLimits,
) {
  const connections = new Connections()
  const answer = handler({ handle }, limits, { connections })
  const counter = new TurnCounter()
  const server = createServer((req, res) => {
    onRequest(req, res, counter.turn)
    answer(req, res)
  }).listen(0, '127.0.0.1')
  server.on('connection', (socket) => connections.add(socket))
  t.after(() => {
    counter[Symbol.dispose]()
    server.close()
    connections.terminate()
  })
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const open = async (count: number): Promise<Socket[]> => {
    const clients = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}))
    while (connections.open.size < count) await new Promise((resolve) => setTimeout(resolve, 1))
    return clients
  }
  return { server, counter, open }
}

const several = (count: number): string => 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(count)

test('of several connections with many requests in one piece, one is read and one is aborted in a turn', async (t) => {
  const read = new Map<Socket, Set<number>>()
  const { server, counter, open } = await serve(t, (req, _, turn) => {
    const turns = read.get(req.socket) ?? new Set()
    read.set(req.socket, turns.add(turn))
  })
  const closed: number[] = []
  server.on('connection', (socket) => socket.on('close', () => closed.push(counter.turn)))
  const clients = await open(6)
  for (const client of clients) client.write(several(500))
  while (read.size < clients.length) await new Promise((resolve) => setTimeout(resolve, 1))
  const turns = [...read.values()].flatMap((turns) => [...turns])
  assert.equal(new Set(turns).size, turns.length, `read in the turns ${turns}`)
  for (const client of clients) client.resetAndDestroy()
  while (closed.length < clients.length) await new Promise((resolve) => setTimeout(resolve, 1))
  assert.equal(new Set(closed).size, closed.length, `closed in the turns ${closed}`)
})

/** Each look at the clock takes a millisecond. */
const slowDown = (t: TestContext): void => {
  let now = performance.now()
  t.mock.method(performance, 'now', () => now++)
}

test('of several connections with bodies in many small chunks, one is read in a turn', async (t) => {
  const turns: number[] = []
  const { open } = await serve(t, (_req, _res, turn) => turns.push(turn))
  const clients = await open(6)
  slowDown(t)
  const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n'
  for (const client of clients) client.write(`${head}1\r\n[\r\n${'1\r\n \r\n'.repeat(8_000)}1\r\n]\r\n0\r\n\r\n`)
  await Promise.all(clients.map((client) => once(client, 'data')))
  assert.equal(new Set(turns).size, clients.length, `read in the turns ${turns}`)
})

test('a body in many small chunks is read in several turns, as many bytes as the system gives at once in each', async (t) => {
  const turns = new Set<number>()
  const noted = (req: IncomingMessage) => void req.on('data', () => turns.add(counter.turn))
  const { counter, open } = await serve(t, noted, undefined, { ...defaultLimits, maxBodyChunks: 200_000 })
  const [client] = (await open(1)) as [Socket]
  slowDown(t)
  const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n'
  const chunks = '1\r\n \r\n'.repeat(100_000)
  client.write(`${head}1\r\n[\r\n${chunks}1\r\n]\r\n0\r\n\r\n`)
  const [answer] = await once(client.setEncoding('latin1'), 'data')
  assert.match(answer, /^HTTP\/1.1 200 /)
  assert.ok(turns.size >= chunks.length / 65_536, `read in ${turns.size} turns`)
})

test('of several connections with many such bodies in one piece, as many bytes as the system gives at once are read in a turn', async (t) => {
  const begun = new Map<number, number>()
  const { open } = await serve(t, (_req, _res, turn) => begun.set(turn, (begun.get(turn) ?? 0) + 1))
  const clients = await open(4)
  const count = 6
  const body = inChunks(9_990)
  const received = clients.map(async (client) => {
    let text = ''
    for await (const piece of client.setEncoding('latin1')) {
      text += piece
      if (text.split('HTTP/1.1 ').length > count) return
    }
  })
  slowDown(t)
  for (const client of clients) client.write(body.repeat(count))
  await Promise.all(received)
  const most = Math.ceil(65_536 / body.length)
  // The first pieces are read before it is known that they are chunks.
  const later = [...begun.values()].slice(clients.length)
  assert.ok(Math.max(...later) <= most, `requests begun in the turns: ${[...begun.values()]}`)
})

test('a body in too many small chunks is refused, and the rest of it is not read', async (t) => {
  const { open } = await serve(t, () => {})
  const [client] = (await open(1)) as [Socket]
  const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n'
  client.write(head + '1\r\n \r\n'.repeat(10_001))
  const [answer] = await once(client.setEncoding('latin1'), 'data')
  assert.match(answer, /^HTTP\/1.1 413 .*"limit":"maxBodyChunks"/s)
  let isRead = false
  client.on('drain', () => {
    isRead = true
  })
  client.write('1\r\n \r\n'.repeat(4_000_000))
  await new Promise((resolve) => client.on('close', resolve))
  assert.ok(!isRead)
})

const post = (head: string, body: string): string => `POST / HTTP/1.1\r\nHost: localhost\r\n${head}\r\n\r\n${body}`
const withLength = (length: number): string => post(`Content-Length: ${length}`, ' '.repeat(length))
const inChunks = (count: number): string => post('Transfer-Encoding: chunked', `${'1\r\n \r\n'.repeat(count)}0\r\n\r\n`)

for (const [what, text, count] of [
  ['the last with a body of several pieces', several(40) + withLength(200_000), 41],
  ['each with a body of several pieces', withLength(200_000).repeat(10), 10],
  ['with such bodies, and others behind them', several(40) + withLength(200_000).repeat(3) + several(40), 83],
  ['with bodies in many chunks, and others behind them', inChunks(9_000).repeat(5) + several(20), 25],
] as const)
  test(`requests in one piece are all answered: ${what}`, { timeout: 20_000 }, async (t) => {
    const { open } = await serve(t, () => {})
    const [client] = (await open(1)) as [Socket]
    let received = ''
    client.setEncoding('latin1').on('data', (text) => {
      received += text
    })
    client.write(text)
    while (received.split('HTTP/1.1 ').length <= count) await new Promise((resolve) => setTimeout(resolve, 1))
    assert.equal(received.split('HTTP/1.1 ').length - 1, count)
  })

test('while requests of a connection wait, no more of them are read', async (t) => {
  let pending = 0
  let most = 0
  let answered = 0
  const { open } = await serve(t, (_, res) => {
    most = Math.max(most, ++pending)
    res.once('close', () => {
      pending--
      answered++
    })
  })
  const [client] = (await open(1)) as [Socket]
  client.resume()
  client.write(several(20_000))
  while (answered < 200) await new Promise((resolve) => setTimeout(resolve, 1))
  // Node reads 64 kB at once.
  assert.ok(most < 4_000, `${most} requests wait`)
})

test('of many requests in one piece, few are begun before the first is answered', async (t) => {
  const begun: (() => void)[] = []
  const handle = () =>
    new Promise<ServiceResponse>((resolve) => {
      begun.push(() => resolve({ status: 200, headers: {}, body: 'x' }))
    })
  const server = createServer(handler({ handle }, defaultLimits)).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const client = connect((server.address() as { port: number }).port, '127.0.0.1')
  t.after(() => client.destroy())
  let received = ''
  client.setEncoding('utf8').on('data', (text) => {
    received += text
  })
  // What runs for the first time takes long, and a turn that is used makes the rest wait as well.
  for (let round = 0; round < 20; round++) {
    client.write(several(4))
    for (let answered = 0; answered < 4; await new Promise((resolve) => setTimeout(resolve, 1)))
      for (const answer of begun.splice(0)) {
        answer()
        answered++
      }
  }
  while (received.split('HTTP/1.1 200').length <= 80) await new Promise((resolve) => setTimeout(resolve, 1))
  received = ''
  client.write(several(300))
  while (begun.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.ok(begun.length <= 20, `${begun.length} are begun`)
  for (let answered = 0; answered < 300; await new Promise((resolve) => setImmediate(resolve)))
    if (begun[answered]) begun[answered++]?.()
  while (received.split('HTTP/1.1 200').length <= 300) await new Promise((resolve) => setTimeout(resolve, 1))
})

const long = '{}'.padEnd(50_000)
for (const [what, methods] of [
  ['reads behind a write', ['PUT', 'GET', 'HEAD', 'GET']],
  ['a write behind reads', ['GET', 'GET', 'DELETE']],
  ['writes, of which the first takes longest to be read', ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PUT']],
] as const)
  for (const connections of [undefined, new Connections()])
    test(`in one piece, ${what}: no write overlaps with another request${connections ? '' : ', in a framework'}`, async (t) => {
      const order: string[] = []
      let writing = 0
      let pending = 0
      let isMixed = false
      const handle: Service['handle'] = async ({ method, path }) => {
        order.push(path)
        const isWrite = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
        pending++
        if (isWrite) writing++
        isMixed ||= writing > 0 && pending > 1
        await new Promise((resolve) => setTimeout(resolve, 5))
        pending--
        if (isWrite) writing--
        return { status: 200, headers: {}, body: path }
      }
      const server = createServer(handler({ handle }, defaultLimits, { ...(connections && { connections }) }))
      server.on('connection', (socket) => connections?.add(socket))
      server.listen(0, '127.0.0.1')
      t.after(() => server.close())
      await once(server, 'listening')
      const client = connect((server.address() as { port: number }).port, '127.0.0.1')
      t.after(() => client.destroy())
      const body = (index: number) => (index === 0 && methods[0] !== 'GET' ? long : '')
      const requests = methods.map(
        (method, index) =>
          `${method} /${index} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body(index).length}\r\n\r\n${body(index)}`,
      )
      let received = ''
      client.setEncoding('latin1').on('data', (text) => {
        received += text
      })
      client.write(requests.join(''))
      while (received.split('HTTP/1.1 200').length <= methods.length)
        await new Promise((resolve) => setTimeout(resolve, 1))
      assert.deepEqual(
        order,
        methods.map((_, index) => `/${index}`),
      )
      assert.ok(!isMixed)
    })

test('requests that wait when their client has gone are not destroyed one by one', async (t) => {
  const requests: IncomingMessage[] = []
  const { server, open } = await serve(t, (req) => requests.push(req))
  const closed = new Promise((resolve) => server.on('connection', (socket) => socket.on('close', resolve)))
  const [client] = (await open(1)) as [Socket]
  client.write(several(500))
  while (requests.length < 500) await new Promise((resolve) => setTimeout(resolve, 1))
  client.resetAndDestroy()
  await closed
  await nextTurn()
  const destroyed = requests.filter((request) => request.destroyed && request.errored)
  assert.ok(destroyed.length <= 20, `${destroyed.length} are destroyed`)
})

test('the errors of requests that wait when their client has gone have no stacks', async (t) => {
  const requests: IncomingMessage[] = []
  const { server, open } = await serve(t, (req) => requests.push(req))
  const closed = new Promise((resolve) => server.on('connection', (socket) => socket.on('close', resolve)))
  const [client] = (await open(1)) as [Socket]
  client.write(several(500))
  while (requests.length < 500) await new Promise((resolve) => setTimeout(resolve, 1))
  const errors: unknown[] = []
  const last = requests.at(-1) as IncomingMessage
  last.destroy = (error) => {
    errors.push(error)
    return last
  }
  client.resetAndDestroy()
  await closed
  await nextTurn()
  const [error] = errors as [Error]
  assert.equal(error.message, 'aborted')
  assert.doesNotMatch(String(error.stack), /\n +at /)
  assert.match(String(new Error('later').stack), /\n +at /)
})

test('a turn in which requests arrived in one piece is followed by one for connections that send one at a time', async (t) => {
  const read: { readonly path: string; readonly turn: number }[] = []
  const { open } = await serve(t, ({ url: path = '' }, _, turn) => {
    blockEventLoop(0.05)
    if (path !== read.at(-1)?.path) read.push({ path, turn })
  })
  const many = await open(5)
  const single = many.pop() as Socket
  const one = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
  single.write(one('/single'))
  await once(single, 'data')
  for (const client of many) client.write(one(`/many/${many.indexOf(client)}`).repeat(300))
  while (read.length < 2) await nextTurn()
  single.write(one('/single'))
  while (read.length < 6) await new Promise((resolve) => setTimeout(resolve, 1))
  const [first, answered, second] = read.slice(1)
  assert.equal(answered?.path, '/single')
  assert.ok(first && second && first.turn < answered.turn && answered.turn < second.turn, JSON.stringify(read))
})

test('the requests of many connections that arrive together are read in several turns', async (t) => {
  const turns = new Map<number, number>()
  const { open } = await serve(t, (_req, _res, turn) => turns.set(turn, (turns.get(turn) ?? 0) + 1))
  const clients = await open(300)
  const answered = clients.map((client) => once(client, 'data'))
  for (const client of clients) client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await Promise.all(answered)
  assert.equal(
    [...turns.values()].reduce((sum, count) => sum + count),
    300,
  )
  assert.ok(Math.max(...turns.values()) <= 128, `${[...turns.values()]}`)
})

for (const { what, head } of [
  { what: 'a long URL', head: `GET /?where=${'x'.repeat(5_000)} HTTP/1.1\r\nHost: localhost` },
  { what: 'long headers', head: `GET / HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: ${'"a",'.repeat(1_300)}` },
  {
    what: 'long headers and a body',
    head: `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nX: ${'x'.repeat(5_000)}`,
  },
])
  test(`fewer requests than are read in one turn, with ${what} each, are answered in several`, async (t) => {
    const count = 40
    const turns = new Map<number, number>()
    const { open, counter } = await serve(
      t,
      () => {},
      () => {
        turns.set(counter.turn, (turns.get(counter.turn) ?? 0) + 1)
        blockEventLoop(2)
        return { status: 200, headers: {}, body: 1 }
      },
    )
    const clients = await open(count)
    const answered = clients.map((client) => once(client, 'data'))
    for (const client of clients) client.write(`${head}\r\n\r\n`)
    await Promise.all(answered)
    assert.ok(Math.max(...turns.values()) <= 8, `${[...turns.values()]}`)
  })
