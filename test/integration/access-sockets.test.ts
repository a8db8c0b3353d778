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
