import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Json } from '../../src/index.ts'
import { MemoryStore } from '../../src/storage/memory/store.ts'
import { databases } from '../support/databases.ts'
import type { SailsClient } from '../support/sails-client.ts'
import { describeEvent, Fixture, type Request, Seed } from './sockets/fixture.ts'
import { testEvents } from './sockets/test-events.ts'
import { testSubscriptions } from './sockets/test-subscriptions.ts'

/* The usual combinations; the others are in `sockets.slow.test.ts`. */
for (const database of databases) {
  const { name, missing } = database
  describe(`a socket, on ${name},`, { skip: missing ?? false }, () => {
    if (name === 'sqlite') testSubscriptions(database)
    if (name !== 'memory') testEvents(database)
  })
}

describe('a response over a socket', () => {
  const paths: readonly Request[] = [
    ['GET', '/user'],
    ['GET', '/user?count=true&limit=1'],
    ['GET', '/user/<ann>'],
    ['GET', '/user/<ann>/pets'],
    ['GET', '/user/999999'],
    ['GET', '/user?nosuch=1'],
    ['GET', '/nosuch'],
    ['GET', '/user/<ann>%2'],
    ['GET', '/'],
    ['PUT', '/user/<ann>/pets', ['<tom>']],
    ['PUT', '/user/<ann>', ['<tom>']],
    ['PATCH', '/pet/<rex>', { owner: 'nosuch', name: '' }],
    ['DELETE', '/pet'],
    ['POST', '/user/<ann>/nosuch'],
    ['PUT', '/user/find'],
  ]

  for (const [method, path, data] of paths) {
    test(`has the body and the result headers of HTTP: ${method} ${path}`, async () => {
      await using fixture = await Fixture.open()
      const seed = await Seed.insert(fixture)
      const client = await fixture.client()
      const response = await fetch(fixture.server.url + seed.fill(path), {
        method,
        ...(data !== undefined && {
          body: JSON.stringify(seed.fillIn(data)),
          headers: { 'Content-Type': 'application/json' },
        }),
      })
      const answer = await client.ask(method.toLowerCase(), seed.fill(path), seed.fillIn(data))
      assert.equal(answer.statusCode, response.status)
      assert.deepEqual(answer.body, await response.json())
      for (const name of ['ETag', 'Link', 'X-Total-Count', 'Allow']) {
        assert.equal(answer.headers[name] ?? null, response.headers.get(name), name)
      }
    })
  }

  test('contains an HTML page as a string', async () => {
    await using fixture = await Fixture.open()
    const client = await fixture.client()
    const { body } = await client.ask('get', '/', undefined, { Accept: 'text/html' })
    assert.match(body, /^<!doctype html>/i)
  })

  test('is never JSONP', async () => {
    await using fixture = await Fixture.open()
    const client = await fixture.client()
    const { body, statusCode } = await client.ask('get', '/user?callback=run', { callback: 'run' })
    assert.deepEqual([statusCode, body], [200, []])
  })

  test('honours If-None-Match and If-Match', async () => {
    await using fixture = await Fixture.open()
    const seed = await Seed.insert(fixture)
    const client = await fixture.client()
    const address = seed.fill('/user/<ann>')
    const { headers } = await client.ask('get', address)
    const again = await client.ask('get', address, undefined, { 'If-None-Match': headers.ETag as string })
    assert.deepEqual([again.statusCode, again.body], [304, undefined])
    const late = await client.ask(
      'patch',
      address,
      { name: 'x' },
      { 'If-Match': '"0000000000000000000000-0000000000000000000000"' },
    )
    assert.equal(late.statusCode, 412)
  })

  test('is computed from typed values in data, which take precedence over the query string', async () => {
    await using fixture = await Fixture.open()
    await Seed.insert(fixture)
    const client = await fixture.client()
    const ask = async (url: string, data: Json) => (await client.ask('get', url, data)).body
    assert.equal((await ask('/user', { limit: 1, populate: false })).length, 1)
    assert.equal((await ask('/user?limit=2', { limit: 1 })).length, 1)
    assert.deepEqual((await ask('/user', { where: { id: { '>': 1 } }, select: ['name'], populate: false })).length, 1)
    assert.equal((await ask('/user', { sort: [{ id: 'DESC' }], limit: 1, populate: false }))[0].id, 2)
  })
})

describe('no event is lost:', () => {
  /** Runs `meanwhile` after the store has read its snapshot and before the request continues. */
  async function requestDuring(fixture: Fixture, client: SailsClient, url: string, meanwhile: () => Promise<unknown>) {
    const { snapshot } = MemoryStore.prototype
    MemoryStore.prototype.snapshot = async function (this: MemoryStore, work) {
      MemoryStore.prototype.snapshot = snapshot
      const result = await snapshot.call(this, work)
      await meanwhile()
      // All events have been delivered to their subscribers after this.
      for (let turns = 0; turns < 10; turns++) await turn()
      return result as never
    }
    const { body } = await client.ask('get', url)
    return { body, events: await fixture.eventsOf(client) }
  }

  test('events between the read and the response are sent after the response', async () => {
    await using fixture = await Fixture.open()
    const seed = await Seed.insert(fixture)
    const client = await fixture.client()
    const { body, events } = await requestDuring(fixture, client, seed.fill('/user/<bob>'), async () => {
      assert.deepEqual(client.events, [])
      await fixture.http('PATCH', seed.fill('/user/<bob>'), { name: 'Robert' })
      await fixture.http('POST', '/pet', { name: 'New', owner: seed.ids.get('bob') as number })
    })
    assert.match(body.name, /^bob/)
    assert.deepEqual(body.pets, [])
    assert.deepEqual(
      events.map((event) => describeEvent(event, seed)),
      ['user bob updated', 'user bob addedTo pets new', 'pet new created'],
    )
  })

  test('events of an earlier subscription wait for the response, too', async () => {
    await using fixture = await Fixture.open()
    const seed = await Seed.insert(fixture)
    const client = await fixture.client()
    await client.ask('get', seed.fill('/user/<bob>'))
    let receivedEarly: unknown
    const { body, events } = await requestDuring(fixture, client, seed.fill('/user/<bob>'), async () => {
      await fixture.http('PATCH', seed.fill('/user/<bob>'), { name: 'Robert' })
      for (let turns = 0; turns < 100; turns++) await turn()
      receivedEarly = [...client.events]
    })
    assert.deepEqual(receivedEarly, [], 'the client would overwrite the event with the older response')
    assert.match(body.name, /^bob/)
    assert.deepEqual(
      events.map((event) => describeEvent(event, seed)),
      ['user bob updated'],
    )
  })
})
