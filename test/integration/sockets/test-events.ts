import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { DatabaseKind, TestDatabase } from '../../support/databases.ts'
import type { SailsClient } from '../../support/sails-client.ts'
import { describeEvent, Fixture, type Request, records, Seed } from './fixture.ts'

/** The events of each operation, as a client subscribed to every record and model receives them. */
const eventCases: readonly [name: string, request: Request, events: readonly string[]][] = [
  ['create', ['POST', '/pet', { name: 'New' }], ['pet new created']],
  [
    'create with a parent',
    ['POST', '/pet', { name: 'New', owner: '<ann>' }],
    ['user ann addedTo pets new', 'pet new created'],
  ],
  [
    'create with a member of another record',
    ['POST', '/user', { pets: ['<rex>'] }],
    ['user new created', 'user new addedTo pets rex', 'user ann removedFrom pets rex', 'pet rex updated'],
  ],
  [
    'create with a member in many-to-many',
    ['POST', '/user', { groups: ['<club>'] }],
    ['user new created', 'user new addedTo groups club', 'group club addedTo members new'],
  ],
  ['update', ['PATCH', '/pet/<tom>', { name: 'x' }], ['pet tom updated']],
  ['update without values', ['PATCH', '/pet/<tom>', {}], ['pet tom updated']],
  [
    'update to another parent',
    ['PATCH', '/pet/<rex>', { owner: '<bob>' }],
    ['user bob addedTo pets rex', 'user ann removedFrom pets rex', 'pet rex updated'],
  ],
  ['update to the same parent', ['PATCH', '/pet/<rex>', { owner: '<ann>' }], ['pet rex updated']],
  [
    'update to no parent',
    ['PATCH', '/pet/<rex>', { owner: null }],
    ['user ann removedFrom pets rex', 'pet rex updated'],
  ],
  [
    'update of members',
    ['PATCH', '/user/<ann>', { pets: ['<tom>'] }],
    [
      'user ann updated',
      'user ann removedFrom pets rex',
      'pet rex updated',
      'user ann addedTo pets tom',
      'pet tom updated',
    ],
  ],
  ['add', ['PUT', '/user/<ann>/pets/<tom>'], ['user ann addedTo pets tom', 'pet tom updated']],
  ['add of a member', ['PUT', '/user/<ann>/pets/<rex>'], []],
  ['add of a member in many-to-many', ['PUT', '/user/<ann>/groups/<club>'], []],
  [
    'add of a member of another record',
    ['POST', '/user/<bob>/pets', { id: '<rex>' }],
    ['user bob addedTo pets rex', 'user ann removedFrom pets rex', 'pet rex updated'],
  ],
  ['add to a one-way association', ['PUT', '/user/<ann>/likes/<rex>'], ['user ann addedTo likes rex']],
  [
    'add in many-to-many',
    ['PUT', '/user/<ann>/groups/<guild>'],
    ['user ann addedTo groups guild', 'group guild addedTo members ann'],
  ],
  ['remove', ['DELETE', '/user/<ann>/pets/<rex>'], ['user ann removedFrom pets rex', 'pet rex updated']],
  ['remove of a record that is no member', ['DELETE', '/user/<bob>/pets/<rex>'], []],
  [
    'remove in many-to-many',
    ['DELETE', '/user/<ann>/groups', { id: '<club>' }],
    ['user ann removedFrom groups club', 'group club removedFrom members ann'],
  ],
  [
    'replace',
    ['PUT', '/user/<ann>/pets', ['<tom>']],
    ['user ann removedFrom pets rex', 'pet rex updated', 'user ann addedTo pets tom', 'pet tom updated'],
  ],
  [
    'replace by the same and one more',
    ['PUT', '/user/<ann>/groups', ['<club>', '<guild>']],
    ['user ann addedTo groups guild', 'group guild addedTo members ann'],
  ],
  [
    'destroy of a parent',
    ['DELETE', '/user/<ann>'],
    ['pet rex updated', 'group club removedFrom members ann', 'user ann destroyed'],
  ],
  ['destroy of a member', ['DELETE', '/pet/<rex>'], ['user ann removedFrom pets rex', 'pet rex destroyed']],
  ['a refused update', ['PATCH', '/pet/<rex>', { owner: 999_999 }], []],
  ['destroy of a missing record', ['DELETE', '/pet/999999'], []],
]

/** Declares the tests of the events that sockets receive. */
export function testEvents(database: DatabaseKind): void {
  let opened: TestDatabase
  let fixture: Fixture
  before(async () => {
    opened = await database.open()
    fixture = await Fixture.open({ database: opened.url })
  })
  after(async () => {
    await fixture[Symbol.asyncDispose]()
    await opened[Symbol.asyncDispose]()
  })

  describe('receives the events of', () => {
    for (const [name, [method, url, data], expected] of eventCases) {
      test(name, async () => {
        const seed = await Seed.insert(fixture)
        const client = await fixture.client()
        for (const [model, name] of records) {
          await client.ask('get', seed.fill(`/${model}?name={${name}}&populate=false`))
        }
        await fixture.http(method, seed.fill(url), seed.fillIn(data))
        const events = await fixture.eventsOf(client)
        assert.deepEqual(
          events.map((event) => describeEvent(event, seed)),
          expected,
        )
        client.close()
      })
    }
  })

  test('payloads contain rows without embedded records', async () => {
    const seed = await Seed.insert(fixture)
    const client = await fixture.client()
    await client.ask('get', '/user?limit=1000&populate=false')
    await client.ask('get', '/pet?limit=1000&populate=false')
    const created = await fixture.http('POST', '/pet', { name: 'New', owner: seed.ids.get('ann') as number })
    const { owner, ...record } = created.body as { id: number; name: string; createdAt: string; owner: { id: number } }
    const before = { ...record, owner: owner.id }
    const updated = await fixture.http('PATCH', `/pet/${record.id}`, {
      name: 'Newer',
      owner: seed.ids.get('bob') as number,
    })
    const { updatedAt } = updated.body as { updatedAt: string }
    await fixture.http('DELETE', `/pet/${record.id}`)
    const [ann, bob] = [seed.ids.get('ann'), seed.ids.get('bob')]
    const { id } = record
    assert.deepEqual(await fixture.eventsOf(client), [
      ['user', { verb: 'addedTo', attribute: 'pets', id: ann, addedId: id }],
      ['pet', { verb: 'created', id, data: before }],
      ['user', { verb: 'addedTo', attribute: 'pets', id: bob, addedId: id }],
      ['user', { verb: 'removedFrom', attribute: 'pets', id: ann, removedId: id }],
      ['pet', { verb: 'updated', id, data: { id, name: 'Newer', owner: bob, updatedAt }, previous: before }],
      ['user', { verb: 'removedFrom', attribute: 'pets', id: bob, removedId: id }],
      ['pet', { verb: 'destroyed', id, previous: { ...before, name: 'Newer', owner: bob, updatedAt } }],
    ])
    client.close()
  })

  test('own changes: `updated` and `destroyed` reach every subscribed client, the others all but the requester', async () => {
    const seed = await Seed.insert(fixture)
    const [a, b] = [await fixture.client(), await fixture.client()]
    for (const client of [a, b]) {
      await client.ask('get', '/user?limit=1000&populate=false')
      await client.ask('get', '/pet?limit=1000&populate=false')
    }
    const { body } = await a.ask('post', '/pet', { name: 'New', owner: seed.ids.get('ann') })
    await a.ask('patch', `/pet/${body.id}`, { name: 'Newer' })
    const words = async (client: SailsClient) =>
      (await fixture.eventsOf(client)).map((event) => describeEvent(event, seed))
    assert.deepEqual(await words(a), ['pet new updated'])
    assert.deepEqual(await words(b), ['user ann addedTo pets new', 'pet new created', 'pet new updated'])
    await b.ask('patch', `/pet/${body.id}`, { name: 'Newest' })
    for (const client of [a, b]) assert.deepEqual(await words(client), ['pet new updated'])
    await a.ask('delete', seed.fill('/user/<ann>'))
    for (const client of [a, b]) {
      const events = await words(client)
      assert.deepEqual(events.slice(0, 2).sort(), ['pet new updated', 'pet rex updated'].sort())
      assert.deepEqual(events.slice(2), ['user ann destroyed'])
    }
    for (const client of [a, b]) client.close()
  })

  test('own changes: the update that subscribes a client is delivered to it, and the create is not', async () => {
    const seed = await Seed.insert(fixture)
    const client = await fixture.client()
    const words = async () => (await fixture.eventsOf(client)).map((event) => describeEvent(event, seed))
    await client.ask('patch', seed.fill('/pet/<rex>'), { name: 'x' })
    assert.deepEqual(await words(), ['pet rex updated'])
    await client.ask('put', seed.fill('/user/<bob>/pets/<tom>'))
    assert.deepEqual(await words(), ['pet tom updated'])
    await client.ask('post', '/pet', { name: 'New', owner: seed.ids.get('ann') })
    assert.deepEqual(await words(), [])
    client.close()
  })

  test('destroyed is sent once, and a new record with the same key needs a new subscription', async () => {
    const seed = await Seed.insert(fixture)
    const [recordClient, modelClient] = [await fixture.client(), await fixture.client()]
    await recordClient.ask('get', seed.fill('/pet/<tom>?populate=false'))
    await modelClient.ask('get', seed.fill('/pet?id=<tom>&populate=false'))
    await fixture.http('DELETE', seed.fill('/pet/<tom>'))
    await fixture.http('POST', '/pet', { id: seed.ids.get('tom') as number, name: 'Tom the second' })
    await fixture.http('PATCH', seed.fill('/pet/<tom>'), { name: 'again' })
    const verbs = async (client: SailsClient) => (await fixture.eventsOf(client)).map(([, { verb }]) => verb)
    assert.deepEqual(await verbs(recordClient), ['destroyed'])
    assert.deepEqual(await verbs(modelClient), ['destroyed', 'created', 'updated'])
    for (const client of [recordClient, modelClient]) client.close()
  })

  test('a client that destroys a record and creates one with its key is subscribed to the new one', async () => {
    const seed = await Seed.insert(fixture)
    const client = await fixture.client()
    await client.ask('get', seed.fill('/pet/<tom>?populate=false'))
    await client.ask('delete', seed.fill('/pet/<tom>'))
    await client.ask('post', '/pet', { id: seed.ids.get('tom'), name: 'Tom the second' })
    await fixture.http('PATCH', seed.fill('/pet/<tom>'), { name: 'again' })
    const verbs = (await fixture.eventsOf(client)).map(([, { verb }]) => verb)
    assert.deepEqual(verbs, ['destroyed', 'updated'])
    client.close()
  })

  test('clients subscribed to a model are subscribed to its new records, their own included', async () => {
    const [a, b] = [await fixture.client(), await fixture.client()]
    for (const client of [a, b]) await client.ask('get', '/group?limit=0')
    const verbs = async (client: SailsClient) => (await fixture.eventsOf(client)).map(([, { verb }]) => verb)
    const { body } = await a.ask('post', '/group', {})
    assert.deepEqual(await verbs(b), ['created'])
    await b.ask('patch', `/group/${body.id}`, { name: 'x' })
    assert.deepEqual([await verbs(a), await verbs(b)], [['updated'], ['updated']])
    await a.ask('patch', `/group/${body.id}`, { name: 'y' })
    assert.deepEqual([await verbs(a), await verbs(b)], [['updated'], ['updated']])
    for (const client of [a, b]) client.close()
  })
}
