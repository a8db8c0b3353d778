import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../protocol/errors.ts'
import type { Peer } from '../../protocol/event.ts'
import type { ServiceRequest } from '../../protocol/request.ts'
import { anonymous } from '../../protocol/requester.ts'
import { StreamSlots } from '../live/stream-slots.ts'
import { ShapeEndpoint, type ShapeOptions } from './shape-endpoint.ts'
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
  assert.deepEqual(shapeOf('id, "name" ,age').columns, ['id', 'name', 'age'])
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
