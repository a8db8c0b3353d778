import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { SailsClient } from '../support/sails-client.ts'

/* A socket whose rights hang on another model starts again when these change, whatever request has subscribed it. */

const plain = { createdAt: false, updatedAt: false } as const
const ofOpenTeam = () => ({ or: [{ team: null }, { team: { isOpen: true } }] })
const open = (database: string) =>
  createService({
    database,
    auth: { identify: () => ({ id: 1 }) },
    models: {
      team: {
        access: { read: true, update: true },
        attributes: { ...plain, isOpen: { type: 'boolean' }, pets: { collection: 'pet', via: 'team' } },
      },
      pet: {
        access: { read: ofOpenTeam, create: true, update: true },
        attributes: { ...plain, name: { type: 'string' }, team: { model: 'team' } },
      },
      person: {
        access: { read: true },
        attributes: {
          ...plain,
          phone: { type: 'string', access: { read: () => ({ pet: { team: { isOpen: true } } }) } },
          pet: { model: 'pet' },
        },
      },
      note: { access: { read: true }, attributes: { ...plain, text: { type: 'string' } } },
    },
  } as const)

const requests: readonly (readonly [method: string, url: string, data?: object])[] = [
  ['get', '/pet?populate=false'],
  ['get', '/pet?limit=1'],
  ['get', '/pet?name=nobody'],
  ['get', '/pet/1'],
  ['get', '/team/1/pets'],
  ['get', '/person?populate=false'],
  ['get', '/team?populate=pets'],
  ['post', '/pet?populate=false', { name: 'New', team: 1 }],
  ['patch', '/pet/1?populate=false', { name: 'Other' }],
  ['post', '/batch', [{ method: 'GET', url: '/pet/1' }]],
]

for (const kind of databases) {
  describe(`sockets and rights on ${kind.name}`, { skip: kind.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Awaited<ReturnType<typeof open>>
    let url: string
    before(async () => {
      opened = await kind.open()
      service = await open(opened.url)
      const { team, pet, person, note } = service.system.records
      for (const id of [1, 2]) await team.create({ id, isOpen: true })
      for (const id of [1, 2]) await pet.create({ name: 'Rex', team: id })
      await person.create({ phone: '1', pet: 1 })
      await note.create({ text: 'before' })
      url = (await service.listen(0)).url
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    for (const [method, address, data] of requests) {
      test(`a socket starts again after ${method} ${address}`, async () => {
        const { team } = service.system.records
        await team.update(1, { isOpen: true })
        const client = await SailsClient.connect(url, { transports: ['websocket'] })
        const { statusCode } = await client.ask(method, address, data)
        assert.ok(statusCode < 300, String(statusCode))
        await team.update(1, { isOpen: false })
        await eventually(() => !client.socket.isConnected())
      })
    }

    test('a socket that has requested what needs no such right stays connected', async () => {
      const { team, note } = service.system.records
      const client = await SailsClient.connect(url, { transports: ['websocket'] })
      assert.equal((await client.ask('get', '/note')).statusCode, 200)
      await team.update(2, { isOpen: false })
      await note.update(1, { text: 'after' })
      assert.deepEqual(await client.until((name) => name === 'note'), [])
      assert.equal((await client.ask('get', '/pet/2')).statusCode, 404)
      client.close()
    })
  })
}

test('a requester whose rules throw prevents no event of others', async () => {
  const errors: unknown[] = []
  await using service = await createService({
    database: 'memory:',
    onError: (error) => errors.push(error),
    auth: {
      identify: ({ query }): { readonly id: number } | null => (query.includes('user=1') ? { id: 1 } : null),
    },
    models: {
      person: {
        // For a requester without a user it throws.
        access: { read: ({ user }) => ({ id: (user as { readonly id: number }).id }) },
        attributes: { ...plain, name: { type: 'string' } },
      },
      pet: {
        access: { read: true, update: true },
        attributes: { ...plain, name: { type: 'string' }, owner: { model: 'person' } },
      },
    },
  })
  const { url } = await service.listen(0)
  const { pet } = service.system.records
  await pet.create({ name: 'a' })
  const without = await SailsClient.connect(url)
  const other = await SailsClient.connect(url, { query: 'user=1' })
  for (const client of [without, other]) assert.equal((await client.ask('get', '/pet?populate=false')).statusCode, 200)
  for (const name of ['b', 'c']) await pet.update(1, { name })
  await other.until((_, { data }) => data?.name === 'b')
  await other.until((_, { data }) => data?.name === 'c')
  assert.deepEqual(without.events, [])
  assert.ok(without.socket.isConnected())
  // Once for each model that it is subscribed to: also for new persons.
  assert.deepEqual(
    errors.map((error) => (error as Error).name),
    ['TypeError', 'TypeError'],
  )
  const stream = await fetch(`${url}/pet`, { headers: { Accept: 'text/event-stream' } })
  assert.equal(stream.status, 500)
  for (const client of [without, other]) client.close()
})
