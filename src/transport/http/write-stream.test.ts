import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { blockEventLoop } from '../../../test/support/block-event-loop.ts'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import type { Service, ServiceResponse, Streamed } from '../../protocol/request.ts'
import { EventLoopTurn } from '../../support/event-loop-turn.ts'
import { defaultLimits } from '../../support/limits.ts'
import { fetchHandler } from './fetch.ts'
import { type HttpServer, listen } from './listen.ts'

/** A stream that records the calls of its methods. */
class Pieces implements Streamed {
  readonly #items: AsyncIterator<string | Uint8Array>
  pulled = 0
  returned = 0
  stopped = 0
  stop: (() => void) | undefined

  constructor(items: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>, endless = false) {
    this.#items = (async function* () {
      yield* items
    })()
    if (endless) this.stop = () => this.stopped++
  }

  [Symbol.asyncIterator](): AsyncIterator<string | Uint8Array> {
    return {
      next: () => {
        this.pulled++
        return this.#items.next()
      },
      return: async () => {
        this.returned++
        return { done: true, value: undefined }
      },
    }
  }
}

const limits = { ...defaultLimits, streamIdleTimeoutMs: 600_000, stopTimeoutMs: 600_000 }

interface Running extends AsyncDisposable {
  readonly server: HttpServer
  readonly reported: unknown[]
}

async function serve(answer: ServiceResponse | Promise<ServiceResponse>): Promise<Running> {
  const reported: unknown[] = []
  const service: Service = { handle: () => answer }
  const server = await listen(service, { port: 0, limits, onError: (error) => reported.push(error) })
  return { server, reported, [Symbol.asyncDispose]: () => server.stop() }
}

const streamOf = (stream: Streamed, headers: Readonly<Record<string, string>> = {}): ServiceResponse => ({
  status: 200,
  headers: { 'Content-Type': 'text/plain', ...headers },
  stream,
})

function ask({ server }: Running, method = 'GET'): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest({ port: server.port, method }, resolve).on('error', reject).end()
  })
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

async function forever(): Promise<never> {
  return new Promise(() => {})
}

describe('over node:http', () => {
  test('text and bytes, chunk by chunk, to the end', async () => {
    const pieces = new Pieces(['é', Buffer.from('ü'), '', '!'])
    await using running = await serve(streamOf(pieces))
    const response = await ask(running)
    assert.equal(response.headers['transfer-encoding'], 'chunked')
    assert.equal(response.headers['content-length'], undefined)
    assert.equal(response.headers['x-content-type-options'], 'nosniff')
    assert.equal(await textOf(response), 'éü!')
  })

  test('streams that have a chunk in the same turn write it in a turn of their own, once this one is used', async (t) => {
    const waiting = Promise.withResolvers<string>()
    const service: Service = {
      handle: () =>
        streamOf(
          new Pieces(
            (async function* () {
              yield await waiting.promise
            })(),
          ),
        ),
    }
    await using server = await listen(service, { port: 0, limits })
    const running = { server } as Running
    const responses = await Promise.all([ask(running), ask(running), ask(running)])
    using counter = new TurnCounter()
    const turns = new Set<number>()
    const { write } = ServerResponse.prototype
    t.mock.method(ServerResponse.prototype, 'write', function (this: ServerResponse, chunk: string) {
      turns.add(counter.turn)
      return write.call(this, chunk, 'utf8')
    })
    t.mock.getter(EventLoopTurn.prototype, 'isUsed', function (this: EventLoopTurn) {
      // As it does, a look at the time schedules the end of the turn.
      return this.usedMs >= 0 && (turns.has(counter.turn) || counter.turn === begun)
    })
    const begun = counter.turn
    waiting.resolve('late')
    for (const response of responses) assert.equal(await textOf(response), 'late')
    assert.equal(turns.size, 3)
  })

  test('a known length becomes Content-Length', async () => {
    await using running = await serve(streamOf(new Pieces(['abc']), { 'Content-Length': '3' }))
    const response = await ask(running)
    assert.equal(response.headers['content-length'], '3')
    assert.equal(await textOf(response), 'abc')
  })

  test('the headers are sent before the first chunk', async () => {
    const pieces = new Pieces(
      (async function* () {
        yield await forever()
      })(),
    )
    await using running = await serve(streamOf(pieces))
    const response = await ask(running)
    assert.equal(response.statusCode, 200)
    response.destroy()
    while (pieces.returned === 0) await turn()
  })

  test('HEAD reads no chunk', async () => {
    const pieces = new Pieces(['abc'])
    await using running = await serve(streamOf(pieces, { 'Content-Length': '3' }))
    const response = await ask(running, 'HEAD')
    assert.equal(response.headers['content-length'], '3')
    assert.equal(await textOf(response), '')
    assert.deepEqual([pieces.pulled, pieces.returned], [0, 1])
  })

  test('an error in the middle breaks the response off, and is reported', async () => {
    const failing = (async function* () {
      yield 'abc'
      throw new Error('no more')
    })()
    await using running = await serve(streamOf(new Pieces(failing)))
    await assert.rejects(textOf(await ask(running)), { code: 'ECONNRESET' })
    assert.deepEqual(
      running.reported.map((error) => (error as Error).message),
      ['no more'],
    )
  })

  test('invalid headers are an error, and the stream is closed', async () => {
    const pieces = new Pieces(['abc'])
    await using running = await serve(streamOf(pieces, { 'X-Bad': 'a\r\nb' }))
    const response = await ask(running)
    assert.equal(response.statusCode, 500)
    await textOf(response)
    assert.deepEqual([pieces.pulled, pieces.returned], [0, 1])
    assert.equal(running.reported.length, 1)
  })

  test('a client that disconnects before the response', async () => {
    const pieces = new Pieces(['abc'])
    let answer = (_: ServiceResponse) => {}
    let isAsked = () => {}
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve
    })
    const service: Service = {
      handle() {
        isAsked()
        return new Promise((resolve) => {
          answer = resolve
        })
      },
    }
    await using server = await listen(service, { port: 0, limits })
    const socket = connect(server.port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await asked
    socket.destroy()
    await new Promise((resolve) => socket.once('close', resolve))
    for (let turns = 0; turns < 20; turns++) await turn()
    answer(streamOf(pieces))
    while (pieces.returned === 0) await turn()
    assert.equal(pieces.pulled, 0)
  })

  test('no more is read than the client takes', async () => {
    const piece = 'x'.repeat(100_000)
    const pieces = new Pieces(
      (function* () {
        for (;;) yield piece
      })(),
    )
    await using running = await serve(streamOf(pieces))
    const response = await ask(running)
    let before = -1
    while (before !== pieces.pulled) {
      before = pieces.pulled
      for (let turns = 0; turns < 200; turns++) await turn()
    }
    assert.ok(pieces.pulled < 1_000, `${pieces.pulled} pieces wait`)
    response.destroy()
    while (pieces.returned === 0) await turn()
  })

  test('a stop ends event streams, and lets finite ones finish', async () => {
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const waiting = async function* () {
      yield 'abc'
      await ended
      yield 'def'
    }
    for (const isEndless of [true, false]) {
      const pieces = new Pieces(waiting(), isEndless)
      const running = await serve(streamOf(pieces))
      const response = await ask(running)
      while (pieces.pulled < 2) await turn()
      const stopping = running.server.stop()
      assert.equal(pieces.stopped, isEndless ? 1 : 0)
      end()
      assert.equal(await textOf(response), 'abcdef')
      await stopping
    }
  })
})

describe('a stop while the connection is full', () => {
  const piece = 'x'.repeat(100_000)

  /** Sends until the connection takes no more, and after a stop the end. */
  async function fill() {
    let isStopped = false
    const pieces = new Pieces(
      (function* () {
        while (!isStopped) yield piece
        yield 'the end'
      })(),
    )
    pieces.stop = () => {
      isStopped = true
    }
    const running = await serve(streamOf(pieces))
    const response = await ask(running)
    let before = -1
    while (before !== pieces.pulled) {
      before = pieces.pulled
      for (let turns = 0; turns < 200; turns++) await turn()
    }
    return { running, response }
  }

  test('a client that reads on receives the last event', async () => {
    const { running, response } = await fill()
    const stopping = running.server.stop()
    assert.match((await textOf(response)).slice(-10), /the end$/)
    await stopping
  })

  test('a client that reads nothing does not delay it until `stopTimeoutMs`', async () => {
    const { running, response } = await fill()
    await running.server.stop()
    response.destroy()
  })
})

describe('over fetch', () => {
  const fetchOf = (answer: ServiceResponse) => fetchHandler({ handle: () => answer }, limits)

  test('text and bytes, each on demand', async () => {
    const pieces = new Pieces(['é', Buffer.from('ü')])
    const response = await fetchOf(streamOf(pieces))(new Request('http://x/'))
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(pieces.pulled, 0)
    assert.equal(await response.text(), 'éü')
  })

  test('HEAD reads no chunk', async () => {
    const pieces = new Pieces(['abc'])
    const response = await fetchOf(streamOf(pieces))(new Request('http://x/', { method: 'HEAD' }))
    assert.equal(response.body, null)
    assert.deepEqual([pieces.pulled, pieces.returned], [0, 1])
  })

  test('a cancelled stream is closed', async () => {
    const pieces = new Pieces(['abc', 'def'])
    const response = await fetchOf(streamOf(pieces))(new Request('http://x/'))
    await response.body?.cancel()
    assert.equal(pieces.returned, 1)
  })

  test('an error in the middle rejects the read', async () => {
    const failing = (async function* () {
      yield 'abc'
      throw new Error('no more')
    })()
    const response = await fetchOf(streamOf(new Pieces(failing)))(new Request('http://x/'))
    await assert.rejects(response.text(), /no more/)
  })

  test('invalid headers are an error, and the stream is closed', async () => {
    const pieces = new Pieces(['abc'])
    const reported: unknown[] = []
    const answer = streamOf(pieces, { 'X-Bad': 'a\r\nb' })
    const fetch = fetchHandler({ handle: () => answer }, limits, { onError: (error) => reported.push(error) })
    assert.equal((await fetch(new Request('http://x/'))).status, 500)
    assert.deepEqual([pieces.pulled, pieces.returned, reported.length], [0, 1, 1])
  })
})

test('streams whose clients disconnect together end in several turns of the event loop', async () => {
  using counter = new TurnCounter()
  const turns: number[] = []
  const endless: Streamed = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => {}),
      return: async () => {
        blockEventLoop(10)
        turns.push(counter.turn)
        return { done: true, value: undefined }
      },
    }),
  }
  await using running = await serve(streamOf(endless))
  const clients = Array.from({ length: 3 }, () => connect(running.server.port, '127.0.0.1'))
  for (const client of clients) {
    client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await once(client, 'data')
  }
  for (const client of clients) client.resetAndDestroy()
  blockEventLoop(20)
  while (turns.length < clients.length) await new Promise((resolve) => setTimeout(resolve, 1))
  assert.equal(new Set(turns).size, clients.length, `in the turns ${turns}`)
})
