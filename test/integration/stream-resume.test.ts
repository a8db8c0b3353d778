import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Service } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { type DatabaseKind, databases, type TestDatabase } from '../support/databases.ts'
import { type ServedStreams, serveStreams } from './streams/owners-and-pets.ts'

/* Clients that continue from a position: after a disconnection, and when the service stops and starts. */

for (const kind of databases)
  describe(`resuming on ${kind.name}`, { skip: kind.missing ?? false }, () => resumingOver(kind))

function resumingOver(kind: DatabaseKind): void {
  const hasNoHistory = kind.name === 'memory' && 'what is kept in memory is gone with the service'
  let database: TestDatabase
  let served: ServedStreams
  before(async () => {
    database = await kind.open()
    served = await serveStreams(database.url)
  })
  after(async () => {
    await served?.[Symbol.asyncDispose]()
    await database?.[Symbol.asyncDispose]()
    assert.deepEqual(served?.reported, [])
  })

  test('a client that resumes receives the events since then, once and in order', async () => {
    const { send, ready } = served
    await using stream = await ready('/pet')
    const rex = await send('POST', '/pet', { name: 'Rex' })
    const [first] = [await stream.next()]
    await send('PATCH', `/pet/${rex.id}`, { weight: 1 })
    await stream.next()
    await stream.close()
    await send('PATCH', `/pet/${rex.id}`, { weight: 2 })
    await send('PATCH', `/pet/${rex.id}`, { weight: 3 })
    const weights = async (headers: Readonly<Record<string, string>>, path: string, count: number) => {
      await using resumed = await ready(path, headers)
      await send('PATCH', `/pet/${rex.id}`, { weight: 0 })
      const delivered = (await resumed.take(count)).map(({ data }) => (data as JsonObject).weight)
      await resumed.close()
      return delivered
    }
    assert.deepEqual(await weights({ 'last-event-id': stream.lastEventId }, '/pet', 3), [2, 3, 0])
    const after = `/pet?lastEventId=${encodeURIComponent(first?.id as string)}`
    // The last write of the round before set it to 0 already, so that nothing was left to say of it.
    assert.deepEqual((await weights({}, after, 4)).slice(0, 4), [1, 2, 3, 0])
    // A browser keeps the URL, and sends the id of its last event as a header.
    assert.deepEqual((await weights({ 'last-event-id': stream.lastEventId }, after, 3)).slice(0, 2), [2, 3])
  })

  test('no gap and no repetition, whenever a client begins or resumes', async () => {
    const { service, ready } = served
    const pets = service.system.records.pet as Service['system']['records'][string]
    const begun: string[] = []
    let isWriting = true
    const writing = Promise.all(
      [1, 2, 3, 4].map(async (writer) => {
        for (let round = 1; isWriting; round++) {
          const name = `${writer}.${round}`
          begun.push(`created ${name}`)
          const { id } = await pets.create({ name })
          begun.push(`updated ${name}`)
          await pets.update(id as number, { weight: round })
          if (round % 3 === 0) {
            begun.push(`destroyed ${name}`)
            await pets.destroy(id as number)
          }
          if (round % 5 === 0) await new Promise((resolve) => setImmediate(resolve))
        }
      }),
    )
    const listeners = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        await new Promise((resolve) => setTimeout(resolve, index * 7))
        await using stream = await ready('/pet')
        const from = begun.length
        const received = await stream.take(10 + index * 3)
        await stream.close()
        await new Promise((resolve) => setTimeout(resolve, 12 - index))
        return { from, received, resumed: await ready('/pet', { 'last-event-id': stream.lastEventId }) }
      }),
    )
    isWriting = false
    await writing
    const last = await pets.create({ name: 'last' })
    for (const { from, received, resumed } of listeners) {
      while (received.at(-1)?.id !== last.id) received.push(...(await resumed.take(1)))
      await resumed.close()
      const delivered = received.map(nameOf)
      // On PostgreSQL resuming may repeat some: a position within a batch belongs to one snapshot.
      const once = kind.name === 'postgres' ? [...new Set(delivered)] : delivered
      assert.deepEqual(once.length, new Set(once).size)
      const missed = begun.slice(from).filter((name) => !once.includes(name))
      assert.deepEqual(missed, [])
      const orders = Map.groupBy(once, (name) => name.split(' ')[1])
      for (const own of orders.values()) {
        const verbs = own.map((name) => name.split(' ')[0]).join(' ')
        assert.ok('created updated destroyed'.includes(verbs), `events of one record: ${own.join(', ')}`)
      }
    }
  })

  test('a position that is gone, or of another history, is answered with `reset`', async () => {
    const { service, send, ready, open } = served
    await using stream = await ready('/pet')
    await stream.close()
    for (const weight of [1, 2, 3]) await send('POST', '/pet', { name: 'Rex', weight })
    // Rows that an open transaction may need are not trimmed, and others use the same server.
    do await service.changes.trim({ ageMs: 3_600_000, rows: 1 })
    while ((await service.changes.read(stream.lastEventId, 1)) !== 'reset')
    for (const since of [stream.lastEventId, `x${stream.lastEventId}`, 'no position at all']) {
      await using resumed = await open('/pet', { 'last-event-id': since })
      const { event, id, data } = await resumed.next()
      assert.deepEqual([event, data.position], ['reset', id])
      await send('POST', '/pet', { name: 'After' })
      const [next = {}] = await resumed.take(1)
      assert.equal((next.data as JsonObject).name, 'After')
      await resumed.close()
      await using again = await ready('/pet', { 'last-event-id': id as string })
      const [same] = await again.take(1)
      assert.deepEqual(same, next)
    }
  })

  test('a stop sends `restart`, and the client resumes from its id', async () => {
    await using own = await kind.open()
    const first = await serveStreams(own.url)
    const stream = await first.ready('/pet')
    await first.send('POST', '/pet', { name: 'Rex' })
    await stream.next()
    await first.service.close()
    const [restart, ...more] = await stream.rest()
    assert.deepEqual([restart?.event, restart?.id, more], ['restart', stream.lastEventId, []])
    assert.ok(stream.isWhole)
    await using second = await serveStreams(own.url)
    const resumed = await second.open('/pet', { 'last-event-id': stream.lastEventId })
    const { event } = await resumed.next()
    // What is kept in memory has no history after a restart, and says so.
    assert.equal(event, kind.name === 'memory' ? 'reset' : 'ready')
    await second.send('POST', '/pet', { name: 'Max' })
    const { data } = await resumed.next()
    assert.equal((data.data as JsonObject).name, 'Max')
    await resumed.close()
  })

  test('a write during the stop is received by a client that resumes, once', { skip: hasNoHistory }, async () => {
    await using own = await kind.open()
    const first = await serveStreams(own.url)
    const paths = ['/pet', '/pet?kind=cat']
    const streams = await Promise.all(paths.map((path) => first.ready(path)))
    const written: string[] = []
    const write = async (writer: number) => {
      for (let round = 0; ; round++) {
        const { name } = await first.send('POST', '/pet', { name: `${writer}.${round}` })
        written.push(name as string)
      }
    }
    const writing = Promise.all([1, 2, 3, 4].map((writer) => assert.rejects(write(writer))))
    const pace = await first.ready('/pet')
    await pace.take(50)
    await first.service.close()
    await Promise.all([writing, pace.close()])
    await using second = await serveStreams(own.url)
    const last = await second.send('POST', '/pet', { name: 'last' })
    for (const [index, stream] of streams.entries()) {
      const rest = await stream.rest()
      assert.equal(rest.at(-1)?.event, 'restart')
      const received = rest.slice(0, -1).map(({ data }) => data)
      await using resumed = await second.ready(paths[index] as string, { 'last-event-id': stream.arrivedId })
      while (received.at(-1)?.id !== last.id) received.push(...(await resumed.take(1)))
      const names = received.map(({ data }) => (data as JsonObject).name as string)
      assert.deepEqual(
        written.filter((name) => !names.includes(name)),
        [],
      )
      // As above: on PostgreSQL some may come again.
      if (kind.name !== 'postgres') assert.equal(names.length, new Set(names).size)
    }
  })
}

function nameOf({ verb, data, previous }: JsonObject): string {
  const { name } = { ...(previous as JsonObject | undefined), ...(data as JsonObject | undefined) }
  return `${verb} ${name}`
}
