import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Config, createService, type ModelDefinitions, type Service } from '../../src/index.ts'
import type { Json, JsonObject } from '../../src/protocol/json.ts'
import { type DatabaseKind, databases, type TestDatabase } from '../support/databases.ts'
import { StreamClient } from '../support/event-stream.ts'

const models = {
  owner: {
    attributes: {
      name: { type: 'string', required: true },
      city: { type: 'string' },
      pets: { collection: 'pet', via: 'owner' },
      tags: { collection: 'tag', via: 'owners' },
    },
  },
  pet: {
    attributes: {
      name: { type: 'string', required: true },
      kind: { type: 'string', defaultsTo: 'cat' },
      weight: { type: 'number' },
      owner: { model: 'owner' },
    },
  },
  tag: { attributes: { label: { type: 'string', unique: true }, owners: { collection: 'owner', via: 'tags' } } },
} satisfies ModelDefinitions

interface Served extends AsyncDisposable {
  readonly service: Service
  readonly port: number
  readonly reported: readonly unknown[]
  send(method: string, path: string, body?: Json): Promise<JsonObject>
  ready(path: string, headers?: Readonly<Record<string, string>>): Promise<StreamClient>
  open: (path: string, headers?: Readonly<Record<string, string>>) => Promise<StreamClient>
}

async function serve(database: string, config: Partial<Config> = {}): Promise<Served> {
  const reported: unknown[] = []
  const service = (await createService({
    attributes: { createdAt: false, updatedAt: false },
    onError: (error) => reported.push(error),
    ...config,
    models: models as ModelDefinitions,
    database,
  })) as Service
  const server = await service.listen(0)
  const { port } = server
  return {
    service,
    port,
    reported,
    async send(method, path, body) {
      const request = { method, headers: { 'content-type': 'application/json' } }
      const response = await fetch(`${server.url}${path}`, {
        ...request,
        body: body === undefined ? null : JSON.stringify(body),
      })
      assert.ok(response.ok, `${method} ${path}: ${response.status}`)
      return (await response.json()) as JsonObject
    },
    ready: (path, headers) => StreamClient.ready(port, path, headers),
    open: (path, headers = {}) => StreamClient.open(port, path, { headers }),
    [Symbol.asyncDispose]: () => service.close(),
  }
}

const asFilter = (where: Json): string => `where=${encodeURIComponent(JSON.stringify(where))}`

for (const kind of databases) describe(kind.name, { skip: kind.missing ?? false }, () => streamsOver(kind))

function streamsOver(kind: DatabaseKind): void {
  const hasNoHistory = kind.name === 'memory' && 'what is kept in memory is gone with the service'
  let database: TestDatabase
  let served: Served
  before(async () => {
    database = await kind.open()
    served = await serve(database.url)
  })
  after(async () => {
    await served?.[Symbol.asyncDispose]()
    await database?.[Symbol.asyncDispose]()
    assert.deepEqual(served?.reported, [])
  })

  test('a model: every event of its records, and of no others', async () => {
    const { send, ready } = served
    await using stream = await ready('/owner')
    const ann = await send('POST', '/owner', { name: 'Ann' })
    const rex = await send('POST', '/pet', { name: 'Rex', owner: ann.id as Json })
    await send('PATCH', `/owner/${ann.id}`, { name: 'Bea' })
    await send('PATCH', `/pet/${rex.id}`, { owner: null, weight: 3 })
    await send('DELETE', `/owner/${ann.id}`)
    const delivered = await stream.take(5)
    const record = { id: ann.id, name: 'Ann', city: null }
    const own = { model: 'owner', id: ann.id }
    assert.deepEqual(delivered, [
      { ...own, verb: 'created', data: record },
      { ...own, verb: 'addedTo', attribute: 'pets', addedId: rex.id },
      { ...own, verb: 'updated', data: { id: ann.id, name: 'Bea' }, previous: record },
      { ...own, verb: 'removedFrom', attribute: 'pets', removedId: rex.id },
      { ...own, verb: 'destroyed', previous: { ...record, name: 'Bea' } },
    ])
  })

  test('a request that is refused or changes nothing has no event', async () => {
    const { service, send, ready } = served
    await using stream = await ready('/tag')
    await send('POST', '/tag', { label: 'once' })
    await assert.rejects(send('POST', '/tag', { label: 'once' }), /400/)
    await assert.rejects(service.system.records.tag?.update(9_999_999, { label: 'x' }) as Promise<unknown>)
    await send('POST', '/tag', { label: 'twice' })
    const [first, second] = await stream.take(2)
    assert.deepEqual(
      [first?.data, second?.data].map((data) => (data as JsonObject).label),
      ['once', 'twice'],
    )
  })

  test('a record: its events, up to `destroyed`', async () => {
    const { send, ready, open } = served
    const ann = await send('POST', '/owner', { name: 'Ann' })
    const other = await send('POST', '/owner', { name: 'Other' })
    await using stream = await ready(`/owner/${ann.id}`)
    await send('PATCH', `/owner/${other.id}`, { name: 'Else' })
    await send('PATCH', `/owner/${ann.id}`, { city: 'Oslo' })
    await send('DELETE', `/owner/${ann.id}`)
    const events = await stream.rest()
    assert.deepEqual(
      events.map(({ event, data }) => [event, data.id]),
      [
        ['updated', ann.id],
        ['destroyed', ann.id],
      ],
    )
    assert.ok(stream.isWhole)
    await using again = await open(`/owner/${ann.id}`)
    assert.equal(again.status, 404)
    // A browser that reconnects must not wait for a record that is gone: any status but 200 ends it.
    await using resumed = await open(`/owner/${ann.id}`, { 'last-event-id': stream.arrivedId })
    assert.equal(resumed.status, 404)
    await Promise.all([stream.close(), again.close(), resumed.close()])
  })

  test('a record: a client that was disconnected before `destroyed` receives it', async () => {
    const { send, ready } = served
    const ann = await send('POST', '/owner', { name: 'Ann' })
    await using stream = await ready(`/owner/${ann.id}`)
    await stream.close()
    await send('PATCH', `/owner/${ann.id}`, { city: 'Rome' })
    await send('DELETE', `/owner/${ann.id}`)
    await using resumed = await ready(`/owner/${ann.id}`, { 'last-event-id': stream.lastEventId })
    assert.deepEqual(
      (await resumed.rest()).map(({ event }) => event),
      ['updated', 'destroyed'],
    )
  })

  test('a condition: a record that begins to match is created, one that no longer matches is destroyed without values', async () => {
    const { send, ready } = served
    await using stream = await ready(`/pet?${asFilter({ kind: 'dog', weight: { '>': 5 } })}`)
    const rex = await send('POST', '/pet', { name: 'Rex', kind: 'dog', weight: 3 })
    const tom = await send('POST', '/pet', { name: 'Tom', kind: 'cat', weight: 9 })
    const path = `/pet/${rex.id}`
    await send('PATCH', path, { weight: 6 })
    await send('PATCH', path, { weight: 7 })
    await send('PATCH', path, { kind: 'cat' })
    await send('PATCH', path, { name: 'Max' })
    await send('PATCH', path, { kind: 'dog' })
    await send('DELETE', `/pet/${tom.id}`)
    await send('DELETE', path)
    const own = { model: 'pet', id: rex.id }
    const record = { id: rex.id, name: 'Rex', kind: 'dog', weight: 6, owner: null }
    const later = { ...record, name: 'Max', weight: 7 }
    assert.deepEqual(await stream.take(5), [
      { ...own, verb: 'created', data: record },
      { ...own, verb: 'updated', data: { id: rex.id, weight: 7 }, previous: record },
      { ...own, verb: 'destroyed' },
      { ...own, verb: 'created', data: later },
      { ...own, verb: 'destroyed', previous: later },
    ])
  })

  test('a condition as a parameter, and no events of members of records that do not match', async () => {
    const { send, ready } = served
    await using stream = await ready('/owner?city=Oslo')
    const near = await send('POST', '/owner', { name: 'Near', city: 'Oslo' })
    const far = await send('POST', '/owner', { name: 'Far', city: 'Rome' })
    for (const { id } of [far, near]) await send('POST', '/pet', { name: 'Rex', owner: id as Json })
    // The owner is matched when the event of its member is delivered, so each step waits for its events.
    const received = [...(await stream.take(2))]
    await send('PATCH', `/owner/${near.id}`, { city: 'Rome' })
    received.push(...(await stream.take(1)))
    await send('POST', '/pet', { name: 'Max', owner: near.id as Json })
    await send('POST', '/owner', { name: 'Last', city: 'Oslo' })
    received.push(...(await stream.take(1)))
    assert.deepEqual(
      received.map(({ verb, id }) => [verb, id === near.id]),
      [
        ['created', true],
        ['addedTo', true],
        ['destroyed', true],
        ['created', false],
      ],
    )
  })

  test('only the last event of an operation has an id', async () => {
    const { send, ready } = served
    const ann = await send('POST', '/owner', { name: 'Ann' })
    const pets = [1, 2, 3].map((number) => ({ name: `Pet ${number}`, owner: ann.id as Json }))
    for (const pet of pets) await send('POST', '/pet', pet)
    await using stream = await ready('/pet')
    await send('DELETE', `/owner/${ann.id}`)
    const events = [await stream.next(), await stream.next(), await stream.next()]
    assert.deepEqual(
      events.map(({ event, data, id }) => [event, (data.data as JsonObject).owner, id !== undefined]),
      [
        ['updated', null, false],
        ['updated', null, false],
        ['updated', null, true],
      ],
    )
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
    const first = await serve(own.url)
    const stream = await first.ready('/pet')
    await first.send('POST', '/pet', { name: 'Rex' })
    await stream.next()
    await first.service.close()
    const [restart, ...more] = await stream.rest()
    assert.deepEqual([restart?.event, restart?.id, more], ['restart', stream.lastEventId, []])
    assert.ok(stream.isWhole)
    await using second = await serve(own.url)
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
    const first = await serve(own.url)
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
    await using second = await serve(own.url)
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

  test('code in the same process receives the same events', async () => {
    const pets = served.service.system.records.pet as Service['system']['records'][string]
    const received: unknown[] = []
    const rex = await pets.create({ name: 'Rex', kind: 'dog' })
    const id = rex.id as number
    for await (const item of pets.live({ where: { kind: 'dog' } })) {
      received.push(item.verb === 'updated' ? [item.verb, item.data.name, item.previous.name] : item.verb)
      if (item.verb === 'ready') await pets.update(id, { name: 'Max' })
      if (item.verb === 'updated') await pets.update(id, { kind: 'cat' })
      if (item.verb === 'destroyed') {
        assert.equal(item.previous, undefined)
        break
      }
    }
    assert.deepEqual(received, ['ready', ['updated', 'Max', 'Rex'], 'destroyed'])
  })
}

function nameOf({ verb, data, previous }: JsonObject): string {
  const { name } = { ...(previous as JsonObject | undefined), ...(data as JsonObject | undefined) }
  return `${verb} ${name}`
}
