import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { RawPolling } from '../../test/support/raw-polling.ts'
import { startSockets, until } from '../../test/support/socket-server.ts'
import { eventLoopTurn } from '../support/event-loop-turn.ts'
import { WaitingBytes } from '../support/waiting-bytes.ts'

interface Given {
  readonly worker: string
  readonly received: string
}

/** Of two workers, the one that does not have the sessions `2.…`. */
async function startWorker(waiting?: WaitingBytes, maxMessageBytes = 1_000_000) {
  const given: Given[] = []
  const seen: string[] = []
  const workers = {
    id: '1',
    receive() {},
    send(worker: string, connection: Socket, received: Buffer) {
      given.push({ worker, received: received.toString() })
      connection.destroy()
    },
  }
  const server = await startSockets({
    workers,
    ...(waiting && { waiting }),
    limits: { maxMessageBytes },
    observe: (observation) => void (observation.kind === 'clientDisconnected' && seen.push(observation.limit)),
  })
  const send = (...lines: readonly string[]): Socket => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {})
    socket.resume().write(lines.join('\r\n'))
    return socket
  }
  return { given, seen, send, url: server.url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

const path = '/socket.io/?EIO=4&transport=polling&sid=2.x'
const get = (path: string) => [`GET ${path} HTTP/1.1`, 'Host: localhost', '', '']
const post = (length: number) => [`POST ${path} HTTP/1.1`, 'Host: localhost', `Content-Length: ${length}`]

/** The statuses of the answers so far. */
function receive(socket: Socket): () => string[] {
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  return () => Array.from(text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => String(status))
}

describe('a request of long polling for a session of another worker', () => {
  test('is given to it with its connection', async () => {
    await using worker = await startWorker()
    worker.send(`GET ${path} HTTP/1.1`, 'Host: localhost', '', '')
    await until(() => worker.given.length === 1)
    worker.send(...post(2), '', '40')
    await until(() => worker.given.length === 2)
    const body = 'x'.repeat(300_000)
    worker.send(...post(body.length), 'Expect: 100-continue', '', body)
    await until(() => worker.given.length === 3)
    const heads = [
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n40`,
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000\r\n\r\n${body}`,
    ]
    assert.deepEqual(
      worker.given,
      heads.map((received) => ({ worker: '2', received })),
    )
  })

  test('counts in maxWaitingBytes until it is complete, and the oldest are disconnected', async () => {
    const waiting = new WaitingBytes(500_000)
    await using worker = await startWorker(waiting)
    const sockets: Socket[] = []
    for (let index = 0; index < 4; index++) {
      const before = waiting.total
      sockets.push(worker.send(...post(400_000), '', 'x'.repeat(200_000)))
      await until(() => waiting.total === Math.min(before + 200_000, 400_000))
      if (index >= 2) await until(() => worker.seen.length === index - 1)
    }
    await until(() => sockets.filter(({ destroyed }) => destroyed).length === 2)
    assert.deepEqual([sockets[2]?.destroyed, sockets[3]?.destroyed], [false, false])
    sockets[2]?.destroy()
    await until(() => waiting.total === 200_000)
    sockets[3]?.write('x'.repeat(200_000))
    await until(() => worker.given.length === 1)
    assert.equal(waiting.total, 0)
    assert.deepEqual(worker.seen, ['maxWaitingBytes', 'maxWaitingBytes'])
  })

  test('is refused above maxMessageBytes', async () => {
    await using worker = await startWorker(undefined, 1_000)
    let answer = ''
    worker.send(...post(1_001), '', '').on('data', (chunk) => {
      answer += chunk
    })
    await until(() => answer.startsWith('HTTP/1.1 413'))
    assert.deepEqual(worker.given, [])
  })

  for (const { kind, request } of [
    { kind: 'a poll', request: get(path) },
    { kind: 'a packet', request: [...post(2), '', '40'] },
  ]) {
    const text = request.join('\r\n')
    const other = get('/pet').join('\r\n')

    test(`is refused, as ${kind} before others that were sent with it, and these are answered`, async () => {
      await using worker = await startWorker()
      const statuses = receive(worker.send(other + text + other + other))
      await until(() => statuses().length === 4)
      assert.deepEqual([statuses(), worker.given], [['404', '503', '404', '404'], []])
    })

    test(`is refused, as ${kind} behind one that is pending, which is answered`, async () => {
      await using worker = await startWorker()
      const polling = await RawPolling.open(worker.url)
      const statuses = receive(worker.send(get(polling.url.slice(worker.url.length)).join('\r\n') + text))
      await polling.post('40')
      await until(() => statuses().length === 2)
      assert.deepEqual([statuses(), worker.given], [['200', '503'], []])
    })

    test(`is given, as ${kind} after one that was answered`, async () => {
      await using worker = await startWorker()
      const socket = worker.send(other)
      const statuses = receive(socket)
      await until(() => statuses().length === 1)
      socket.write(text)
      await until(() => worker.given.length === 1)
      assert.deepEqual(statuses(), ['404'])
    })
  }

  test('is refused when a part of the next one was sent with it', async () => {
    await using worker = await startWorker()
    const next = get('/pet').join('\r\n')
    const socket = worker.send(get(path).join('\r\n') + next.slice(0, 9))
    const statuses = receive(socket)
    await until(() => statuses().length === 1)
    socket.write(next.slice(9))
    await until(() => statuses().length === 2)
    assert.deepEqual([statuses(), worker.given], [['503', '404'], []])
  })

  test('is given as the version of HTTP that it is', async () => {
    await using worker = await startWorker()
    worker.send(`GET ${path} HTTP/1.0`, '', '')
    await until(() => worker.given.length === 1)
    assert.match(worker.given[0]?.received ?? '', / HTTP\/1\.0\r\n\r\n$/)
  })
})

const handshake = [
  `GET ${path.replace('polling', 'websocket')} HTTP/1.1`,
  'Host: localhost',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
]

describe('the handshake of an upgrade for a session of another worker', () => {
  test('is given to it with all that was sent with it', async () => {
    await using worker = await startWorker()
    worker.send(...handshake, '', 'probe')
    await until(() => worker.given.length === 1)
    assert.deepEqual(worker.given, [{ worker: '2', received: [...handshake, '', 'probe'].join('\r\n') }])
  })

  test('is given with what has arrived while it waited', async (t) => {
    await using worker = await startWorker()
    const { mock } = t.mock.getter(eventLoopTurn, 'isUsed', () => true)
    const socket = worker.send(...handshake, '', '1')
    for (const text of ['2', '3']) {
      for (let turns = 0; turns < 10; turns++) await turn()
      socket.write(text)
    }
    for (let turns = 0; turns < 10; turns++) await turn()
    mock.restore()
    await eventLoopTurn.next()
    await until(() => worker.given.length === 1)
    assert.equal(worker.given[0]?.received, [...handshake, '', '123'].join('\r\n'))
  })

  for (const [name, ...body] of [
    ['a body', 'Content-Length: 4', '', 'body'],
    ['a body that has not arrived', 'Content-Length: 5', '', 'bo'],
    ['a body in chunks', 'Transfer-Encoding: chunked', '', '4', 'body', '0', '', ''],
  ] as const) {
    test(`is refused with ${name}`, async () => {
      await using worker = await startWorker()
      const statuses = receive(worker.send(...handshake, ...body))
      await until(() => statuses().length + worker.given.length > 0)
      assert.deepEqual([statuses(), worker.given], [['400'], []])
    })
  }
})
