import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Service } from '../../src/index.ts'
import type { Json, JsonObject } from '../../src/protocol/json.ts'
import { type DatabaseKind, databases, type TestDatabase } from '../support/databases.ts'
import { type ServedStreams, serveStreams } from './streams/owners-and-pets.ts'

const asFilter = (where: Json): string => `where=${encodeURIComponent(JSON.stringify(where))}`

for (const kind of databases) describe(kind.name, { skip: kind.missing ?? false }, () => streamsOver(kind))

function streamsOver(kind: DatabaseKind): void {
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

  test('members through a model: one that is a member by another row is not removed', async () => {
    const { send, ready } = served
    const ann = await send('POST', '/owner', { name: 'Ann' })
    const shop = await send('POST', '/shop', {})
    const visits = await send('POST', '/visit', Array(3).fill({ owner: ann.id as Json, shop: shop.id as Json }))
    const [first, second, third] = (visits as unknown as readonly JsonObject[]).map(({ id }) => id)
    await using stream = await ready(`/owner/${ann.id}`)
    const from = stream.arrivedId
    await send('DELETE', `/visit/${first}`)
    await send('PATCH', `/visit/${second}`, { owner: null })
    await send('PATCH', `/owner/${ann.id}`, { city: 'Oslo' })
    await using resumed = await ready(`/owner/${ann.id}`, { 'last-event-id': from })
    for (const one of [stream, resumed])
      assert.deepEqual(
        (await one.take(1)).map(({ verb }) => verb),
        ['updated'],
      )
    await send('DELETE', `/visit/${third}`)
    for (const one of [stream, resumed])
      assert.deepEqual(
        (await one.take(1)).map(({ verb }) => verb),
        ['removedFrom'],
      )
  })

  test('members through a model: one whose rows end together is removed once', async () => {
    const { send, ready } = served
    const ann = await send('POST', '/owner', { name: 'Ann' })
    const shop = await send('POST', '/shop', {})
    await send('POST', '/visit', Array(3).fill({ owner: ann.id as Json, shop: shop.id as Json }))
    await using stream = await ready(`/owner/${ann.id}`)
    await send('DELETE', `/shop/${shop.id}`)
    await send('PATCH', `/owner/${ann.id}`, { city: 'Oslo' })
    assert.deepEqual(
      (await stream.take(2)).map(({ verb }) => verb),
      ['removedFrom', 'updated'],
    )
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
