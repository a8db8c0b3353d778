import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { EncodedJson } from '../../src/protocol/json.ts'
import { offsetText } from '../../src/service/electric/shape-request.ts'
import { type OpenService, openService } from '../../src/service/open-service.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* Clients that continue from an old position and read slowly: what was read from the change log for them is bounded. */

const models = { pet: { attributes: { createdAt: false, updatedAt: false, text: { type: 'string' } } } } as const
const changeCount = 30
const bytesOfText = 20_000
const text = 'x'.repeat(bytesOfText)
/** Less than what two of the clients have to receive. */
const maxWaitingBytes = 1_000_000
const clientCount = 12
const maxQueuedBytes = 200_000

for (const database of databases) {
  if (database.name === 'memory') continue // its changes are in memory once for all
  describe(`resuming on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: OpenService
    let since: string

    before(async () => {
      opened = await database.open()
      service = await openService({
        models,
        database: opened.url,
        limits: { maxWaitingBytes, maxQueuedBytes },
        shapes: '/shape',
        onError: (error: unknown) => assert.fail(String(error)),
      })
      since = await service.changes.head()
      const pets = service.records.get('pet')
      for (let id = 1; id <= changeCount; id++) await pets?.create({ id, text })
    })
    after(async () => {
      await service[Symbol.asyncDispose]()
      await opened[Symbol.asyncDispose]()
    })

    const ask = (path: string, query: string, headers = {}) =>
      service.handle({ method: 'GET', path, query, headers, site: 'none' })

    async function open(): Promise<AsyncIterator<string | Uint8Array>> {
      const { stream } = await ask('/pet', '', { accept: 'text/event-stream', 'last-event-id': since })
      return (stream as AsyncIterable<string>)[Symbol.asyncIterator]()
    }

    async function idsFrom(pieces: AsyncIterator<string | Uint8Array>): Promise<readonly number[]> {
      let received = ''
      while (received.split('event: created').length <= changeCount) received += (await pieces.next()).value
      assert.doesNotMatch(received, /event: reset/)
      return [...received.matchAll(/"id":(\d+),"data"/g)].map(([, id]) => Number(id))
    }

    test('what waits for slow clients is counted, and the slowest read it again', async () => {
      const clients = await Promise.all(Array.from({ length: clientCount }, open))
      for (const pieces of clients) await pieces.next()
      assert.ok(service.waiting.total > maxWaitingBytes / 2, `${service.waiting.total} bytes are counted`)
      assert.ok(service.waiting.total <= maxWaitingBytes, `${service.waiting.total} bytes are counted`)
      const every = Array.from({ length: changeCount }, (_, index) => index + 1)
      for (const pieces of clients) assert.deepEqual(await idsFrom(pieces), every)
      for (const pieces of clients) await pieces.return?.()
      assert.equal(service.waiting.total, 0)
    })

    test('an answer of the shape protocol has no more than one connection may queue', async () => {
      const first = await ask('/shape', 'table=pet&offset=now')
      const handle = first.headers['electric-handle'] as string
      const offset = offsetText({ position: since })
      const { body } = await ask('/shape', `table=pet&offset=${offset}&handle=${handle}`)
      const { length } = (body as EncodedJson).encoded
      assert.ok(length > bytesOfText && length < maxQueuedBytes + 2 * bytesOfText, `${length} bytes`)
    })

    test('a client that disconnects is not counted any longer', async () => {
      const client = await open()
      await client.next()
      assert.ok(service.waiting.total > changeCount * bytesOfText, `${service.waiting.total} bytes are counted`)
      await client.return?.()
      assert.equal(service.waiting.total, 0)
    })
  })
}
