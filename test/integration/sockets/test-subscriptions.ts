import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { DatabaseKind, TestDatabase } from '../../support/databases.ts'
import { Fixture, type Request, records, Seed } from './fixture.ts'

/** Per request: the records and the models whose events the socket is subscribed to afterwards. */
const subscriptionCases: readonly [name: string, request: Request, records: string, models: string][] = [
  ['find', ['get', '/user?id[]=<ann>&id[]=<bob>'], 'ann bob rex club', 'user pet group'],
  ['find, as a shortcut', ['get', '/user/find?id[]=<ann>&id[]=<bob>'], 'ann bob rex club', 'user pet group'],
  [
    'find, with its criteria as data',
    ['get', '/user', { id: ['<ann>', '<bob>'] }],
    'ann bob rex club',
    'user pet group',
  ],
  ['find with a limit', ['get', '/user?id[]=<ann>&id[]=<bob>&sort=name%20DESC&limit=1'], 'bob', 'user pet group'],
  ['find with a to-one', ['get', '/pet?name={rex}'], 'rex ann', 'pet user'],
  ['find without results', ['get', '/user?name=nosuch'], '', 'user'],
  ['find without associations', ['get', '/user?name={ann}&populate=false'], 'ann', 'user pet group'],
  ['find with one association', ['get', '/user?name={ann}&populate=groups'], 'ann club', 'user pet group'],
  ['find with a few attributes', ['get', '/user?name={ann}&populate=false&select=name'], 'ann', 'user pet group'],
  ['find by HEAD', ['head', '/user?name={bob}'], 'bob', 'user pet group'],
  ['find one', ['get', '/pet/<rex>'], 'rex ann', 'user'],
  ['find one, as a shortcut', ['get', '/pet/find/<rex>'], 'rex ann', 'user'],
  ['find one of a model associated with itself', ['get', '/user/<ann>'], 'ann rex club', 'user pet group'],
  ['find one without associations', ['get', '/user/<ann>?populate=false'], 'ann', 'user pet group'],
  ['find one of a model associated with another', ['get', '/group/<guild>'], 'guild', 'user'],
  ['populate', ['get', '/user/<ann>/pets'], 'ann rex', 'user pet group'],
  ['populate with a filter', ['get', '/user/<ann>/pets?name=nosuch'], 'ann', 'user pet group'],
  ['populate one member', ['get', '/user/<ann>/pets/<rex>'], 'ann rex', 'user pet group'],
  ['populate a to-one', ['get', '/pet/<rex>/owner'], 'rex ann', 'user'],
  ['create', ['post', '/pet', { name: 'New', owner: '<ann>' }], 'new', ''],
  ['create, as a shortcut', ['get', '/pet/create?name=New'], 'new', ''],
  ['create with members', ['post', '/user', { name: 'New', pets: ['<tom>'] }], 'new', ''],
  ['update', ['patch', '/user/<ann>', { name: 'x' }], 'ann', ''],
  ['update, as a shortcut', ['get', '/user/update/<ann>?name=x'], 'ann', ''],
  ['update of members', ['put', '/user/<ann>', { pets: ['<tom>'] }], 'ann', ''],
  ['update of a to-one', ['patch', '/pet/<rex>', { owner: '<bob>' }], 'rex', ''],
  ['destroy', ['delete', '/pet/<rex>'], '', ''],
  ['destroy, as a shortcut', ['get', '/user/destroy/<ann>'], '', ''],
  ['add', ['put', '/user/<ann>/pets/<tom>'], 'ann tom', ''],
  ['add, by the body', ['post', '/user/<ann>/pets', { id: '<tom>' }], 'ann tom', ''],
  ['add, as a shortcut', ['get', '/user/<bob>/pets/add/<rex>'], 'bob rex', ''],
  ['add of a member', ['put', '/user/<ann>/pets/<rex>'], 'ann rex', ''],
  ['add of a member, by the body', ['post', '/user/<ann>/pets', { id: '<rex>' }], 'ann rex', ''],
  ['add of a member, as a shortcut', ['get', '/user/<ann>/pets/add?id=<rex>'], 'ann rex', ''],
  ['add of a member to many-to-many, by the body', ['post', '/user/<ann>/groups', { id: '<club>' }], 'ann club', ''],
  ['add of a new record', ['post', '/user/<ann>/pets', { name: 'New' }], 'ann new', ''],
  ['add to many-to-many', ['post', '/user/<bob>/groups', { id: '<club>' }], 'bob club', ''],
  ['add to a one-way association', ['put', '/user/<bob>/likes/<tom>'], 'bob tom', ''],
  ['remove', ['delete', '/user/<ann>/pets/<rex>'], '', ''],
  ['remove, by the body', ['delete', '/user/<ann>/groups', { id: '<club>' }], '', ''],
  ['remove, as a shortcut', ['get', '/user/<ann>/pets/remove/<rex>'], '', ''],
  ['replace', ['put', '/user/<ann>/pets', ['<rex>', '<tom>']], 'ann tom', ''],
  ['replace, as a shortcut', ['get', '/user/<ann>/pets/replace?pets=[<tom>]'], 'ann tom', ''],
  ['replace in many-to-many', ['put', '/group/<club>/members', ['<ann>', '<bob>']], 'club bob', ''],
  ['find one of a missing record', ['get', '/user/999999'], '', ''],
  ['find that is refused', ['get', '/user?nosuch=1'], '', ''],
  ['populate of a missing record', ['get', '/user/999999/pets'], '', ''],
  ['create that is refused', ['post', '/pet', { name: '' }], '', ''],
  ['update that is refused', ['patch', '/pet/<rex>', { owner: 999_999 }], '', ''],
  ['add that is refused', ['put', '/user/<ann>/pets/999999'], '', ''],
  ['destroy of a missing record', ['delete', '/user/999999'], '', ''],
]

/** Declares the tests of what each request subscribes a socket to. */
export function testSubscriptions(database: DatabaseKind): void {
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

  describe('is subscribed by', () => {
    for (const [name, [method, url, data], expectedRecords, expectedModels] of subscriptionCases) {
      test(name, async () => {
        const seed = await Seed.insert(fixture)
        const client = await fixture.client()
        const { body } = await client.ask(method, seed.fill(url), seed.fillIn(data))
        if (name.startsWith('create') && body.id !== undefined) seed.ids.set('new', body.id)
        if (name === 'add of a new record')
          seed.ids.set('new', body.pets.find((pet: { name: string }) => pet.name === 'New').id)
        await fixture.eventsOf(client)
        const touched = [...records, [url.startsWith('/pet') || url.endsWith('/pets') ? 'pet' : 'user', 'new'] as const]
        for (const [model, name] of touched) {
          if (seed.ids.has(name)) await fixture.http('PATCH', seed.fill(`/${model}/<${name}>`), { name: 'touched' })
        }
        const updated = (await fixture.eventsOf(client)).map(([model, { id }]) => seed.nameOf(id, model))
        assert.deepEqual(updated.sort(), expectedRecords.split(' ').filter(Boolean).sort())
        for (const model of ['user', 'pet', 'group']) await fixture.http('POST', `/${model}`, { name: 'New' })
        const created = (await fixture.eventsOf(client)).map(([model]) => model)
        assert.deepEqual(created.sort(), expectedModels.split(' ').filter(Boolean).sort())
        client.close()
      })
    }

    test('requests over HTTP subscribe to nothing', async () => {
      const seed = await Seed.insert(fixture)
      const client = await fixture.client()
      for (const path of ['/user', '/user/<ann>', '/user/<ann>/pets']) await fixture.http('GET', seed.fill(path))
      await fixture.http('PATCH', seed.fill('/user/<ann>'), { name: 'x' })
      await fixture.http('POST', '/user', {})
      assert.deepEqual(await fixture.eventsOf(client), [])
      client.close()
    })
  })
}
