import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { EncodedJson } from '../../protocol/json.ts'
import type { ServiceRequest } from '../../protocol/request.ts'
import type { QueryResult } from '../../realtime/queries/query-plan.ts'
import type { Authorization } from '../dispatch/authorize.ts'
import { type LiveFrame, rowsFrame } from './live-frame.ts'
import { liveResponse } from './live-responses.ts'
import type { LiveStreams } from './live-streams.ts'

const rows = Array.from({ length: 300 }, (_, index) => ({ id: index + 1, note: 'é'.repeat(10_000) }))
const texts = rows.map((row) => JSON.stringify(row))
const result: QueryResult = {
  position: 'p',
  rows: rows.map(({ id }) => ({ id, digest: '' })),
  texts,
  length: texts.join('').length,
  total: 900,
  hasMore: true,
}
const data = { query: 'q', position: 'p', key: 'id', rows, total: 900 }

/** The response of a stream with these frames; it ends after them unless it is to stay open. */
function respond(given: readonly LiveFrame[], peer?: ServiceRequest['peer'], { staysOpen = false } = {}) {
  const frames = [...given]
  const stream = {
    id: 's',
    take: async () => frames.shift() ?? (staysOpen ? new Promise<never>(() => {}) : undefined),
    get hasFrames() {
      return frames.length > 0
    },
    end() {},
  }
  const streams = { handle: async () => stream } as unknown as LiveStreams
  const request = { body: {}, ...(peer && { peer }) } as unknown as ServiceRequest
  return liveResponse(streams, request, {} as Authorization, assert.ifError)
}

describe('rows of some megabytes', () => {
  test('are given to an event stream in pieces, and what was not given counts as waiting', async () => {
    const { stream } = await respond([rowsFrame('q', result, 'id'), { event: 'heartbeat' }])
    assert.ok(stream)
    const pieces: string[] = []
    for await (const piece of stream) {
      pieces.push(String(piece))
      const left = texts.join('').length - pieces.join('').length
      assert.ok(Math.abs((stream.unsentLength ?? 0) - Math.max(left, 0)) < 1_000, `${stream.unsentLength} of ${left}`)
    }
    assert.ok(pieces.length > 40)
    assert.ok(pieces.every(({ length }) => length < 80_000))
    const text = /^retry: \d+\nevent: rows\nid: p\ndata: (.*)\n\n:\n\n$/.exec(pieces.join(''))?.[1]
    assert.deepEqual(JSON.parse(text ?? ''), data)
  })

  test('are given to a socket in parts, between which others run', async (t) => {
    const sent = Promise.withResolvers<EncodedJson>()
    let turns = 0
    const timer = setInterval(() => turns++, 0)
    t.after(() => clearInterval(timer))
    let now = 0
    t.mock.method(performance, 'now', () => now++)
    await respond([rowsFrame('q', result, 'id')], {
      message(_: string, message: EncodedJson) {
        sent.resolve(message)
      },
    } as unknown as NonNullable<ServiceRequest['peer']>)
    const message = await sent.promise
    assert.ok((message.parts?.length ?? 0) > 40)
    assert.ok(turns >= 3, `${turns} turns of the event loop`)
    assert.deepEqual(JSON.parse(message.encoded), { event: 'rows', ...data })
  })

  for (const to of ['an event stream', 'a socket'])
    test(`are not kept for ${to} that waits for the next frame`, async () => {
      setFlagsFromString('--expose-gc')
      const gc = runInNewContext('gc') as () => void
      let own: QueryResult | undefined = { ...result }
      const kept = new WeakRef(own)
      const peer = { message: () => undefined } as unknown as NonNullable<ServiceRequest['peer']>
      const given = to === 'a socket' ? peer : undefined
      const { stream } = await respond([rowsFrame('q', own, 'id')], given, { staysOpen: true })
      own = undefined
      const pieces = stream?.[Symbol.asyncIterator]()
      let length = 0
      while (pieces && length < result.length) length += String((await pieces.next()).value).length
      void pieces?.next()
      for (let turns = 0; turns < 50 && kept.deref(); turns++) {
        await nextTurn()
        gc()
      }
      assert.equal(kept.deref(), undefined)
    })
})
