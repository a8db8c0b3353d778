import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Peer } from '../../protocol/event.ts'
import { type EncodedJson, isEncoded, type Json } from '../../protocol/json.ts'
import type { ServiceRequest } from '../../protocol/request.ts'
import { anonymous } from '../../protocol/requester.ts'
import { EventLoopTurn } from '../../support/event-loop-turn.ts'
import type { LooseLiveEvent } from '../live/live-records.ts'
import { StreamSlots } from '../live/stream-slots.ts'
import { ShapeEndpoint, type ShapeOptions } from './shape-endpoint.ts'
import { upToDate } from './shape-messages.ts'
import { newHandle, offsetText, readShapeRequest } from './shape-request.ts'

/** A shape of which nothing ever changes. `waiting` resolves when a request waits for a change. */
function unchangingShape(live?: () => never) {
  const waiting = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<{ readonly done: true; readonly value: undefined }>()
  const events = {
    [Symbol.asyncIterator]: () => events,
    next() {
      waiting.resolve()
      return ended.promise
    },
    async return() {
      ended.resolve({ done: true, value: undefined })
      return ended.promise
    },
  }
  const slots = new StreamSlots(1)
  const endpoint = new ShapeEndpoint({
    models: new Map([['pet', { primaryKey: { name: 'id' } }]]),
    recordsFor: () => new Map([['pet', { live: live ?? (() => events) }]]),
    limits: { maxLimit: 10, maxAnswerBytes: 1000, maxQueuedBytes: 1000 },
    slots,
  } as unknown as ShapeOptions)
  return { endpoint, slots, waiting: waiting.promise }
}

/** The events of one operation that has created this many pets. `onNext` is called before each. */
function* operation(size: number, onNext: (index: number) => void): Generator<LooseLiveEvent, undefined> {
  yield { verb: 'ready', position: '1' }
  for (let id = 0; id < size; id++) {
    onNext(id)
    const event = { verb: 'created', model: 'pet', id, data: { id, name: 'x'.repeat(2_000) } } as const
    yield id === size - 1 ? { ...event, position: '2' } : event
  }
}

/** A shape with the changes of one operation. */
function shapeWith(events: Iterator<LooseLiveEvent, undefined>): ShapeEndpoint {
  const live = { next: async () => events.next(), return: async () => events.return?.() }
  return new ShapeEndpoint({
    models: new Map([['pet', { primaryKey: { name: 'id' } }]]),
    recordsFor: () => new Map([['pet', { live: () => live }]]),
    limits: { maxLimit: 10, maxAnswerBytes: 1000, maxQueuedBytes: 1000 },
    slots: new StreamSlots(1),
  } as unknown as ShapeOptions)
}

const table = 'table=pet&live=true'
const query = `${table}&offset=${offsetText({ position: '1' })}&handle=${newHandle(readShapeRequest(table).shape)}`

for (const when of ['while it waits', 'before'])
  test(`a request that waits for changes ends with the socket that was closed ${when}`, async () => {
    const { endpoint, slots, waiting } = unchangingShape()
    const socket = new AbortController()
    if (when === 'before') socket.abort()
    const peer = { signal: socket.signal } as Peer
    const response = endpoint.respond({ query, peer } as ServiceRequest, { requester: anonymous, access: undefined })
    await waiting
    socket.abort()
    slots.take()[Symbol.dispose]()
    await response
  })

test('names of columns may have quotation marks and spaces; a parameter may be given once', () => {
  const shapeOf = (columns: string) => readShapeRequest(`table=pet&columns=${encodeURIComponent(columns)}`)
  assert.deepEqual(shapeOf('id, "name" ,age').columns, new Set(['id', 'name', 'age']))
  assert.equal(shapeOf('id, *').columns, undefined)
  assert.throws(() => readShapeRequest('table=pet&table=owner'), /"table" is given more than once/)
})

test('a handle that no header could contain is refused', () => {
  const { shape } = readShapeRequest('table=pet')
  for (const end of ['%0d%0aX-Injected: 1', '%00', '漢', 'x'.repeat(12_000)])
    assert.throws(() => readShapeRequest(`table=pet&offset=now&handle=${shape}-${end}`), /"handle" must be/)
})

test('a request that is refused when it subscribes occupies no place of maxStreams', async () => {
  const refused = new ServiceError('E_BAD_CRITERIA', 'pet has no attribute "nope"')
  const { endpoint, slots } = unchangingShape(() => {
    throw refused
  })
  const asker = { requester: anonymous, access: undefined }
  await assert.rejects(endpoint.respond({ query } as ServiceRequest, asker), refused)
  slots.take()
})

test('the changes of a long operation become messages, and a text, in several turns of the event loop', async (t) => {
  const size = 200
  using counter = new TurnCounter()
  let looks = 0
  t.mock.getter(EventLoopTurn.prototype, 'isUsed', () => ++looks % 2 === 1)
  const turns = new Set<number>()
  const endpoint = shapeWith(operation(size, () => turns.add(counter.turn)))
  const request = { query } as ServiceRequest
  const { body } = await endpoint.respond(request, { requester: anonymous, access: undefined })
  assert.ok(turns.size > size / 4, `all messages in ${turns.size} turns`)
  assert.ok(isEncoded(body as Json) && (body as EncodedJson).parts?.length === 7)
  const messages = JSON.parse((body as EncodedJson).encoded)
  assert.equal(messages.length, size + 1)
  assert.deepEqual(messages.at(-1), upToDate())
})

test('a request that does not wait receives a whole operation, however long it takes to read', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const endpoint = shapeWith(operation(3, (index) => index === 1 && t.mock.timers.tick(60)))
  const request = { query: query.replace('live=true', 'live=false') } as ServiceRequest
  const { body } = await endpoint.respond(request, { requester: anonymous, access: undefined })
  assert.equal(JSON.parse((body as EncodedJson).encoded).length, 4)
})
