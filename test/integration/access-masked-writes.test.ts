import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import type { Json, JsonObject } from '../../src/protocol/json.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* A client that sends a whole record back sends null for what it may not read. */

interface User {
  readonly id: number
}

const ofUser = ({ user }: { user: User | null }) => user !== null && { owner: user.id }
/** What the hook before an update was given. */
const seen: JsonObject[] = []

const open = (database: string) =>
  createService({
    database,
    auth: { identify: ({ headers }): User | null => ({ id: Number(headers['x-user']) }) },
    attributes: { createdAt: false, updatedAt: false },
    access: { read: true, create: true, update: true },
    models: {
      vet: { attributes: { name: { type: 'string' } } },
      pet: {
        attributes: {
          name: { type: 'string', unique: true },
          owner: { type: 'number' },
          phone: { type: 'string', access: { read: ofUser } },
          email: { type: 'string', required: true, access: { read: ofUser } },
          vet: { model: 'vet', access: { read: ofUser } },
          pin: { type: 'string', access: { read: false, write: true } },
        },
      },
      hooked: {
        attributes: {
          owner: { type: 'number' },
          phone: { type: 'string', access: { read: ofUser } },
          note: { type: 'string', access: { read: ofUser } },
        },
        hooks: {
          before: {
            update: (values) => {
              seen.push(values as JsonObject)
              return { ...values, note: null }
            },
          },
        },
      },
    },
  })
type TestService = Awaited<ReturnType<typeof open>>

const secrets = { phone: '1', email: 'a@b.c', vet: 1, pin: '9' }

for (const database of databases) {
  describe(`masked values sent back on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: TestService

    before(async () => {
      opened = await database.open()
      service = await open(opened.url)
      await service.system.records.vet.create({ id: 1, name: 'Vera' })
      await service.system.records.pet.create({ id: 1, email: 'x' })
      await service.system.records.hooked.create({ id: 1 })
    })
    beforeEach(async () => {
      await service.system.records.pet.update(1, { name: 'Rex', owner: 1, ...secrets })
      await service.system.records.hooked.update(1, { owner: 1, phone: '1' })
      seen.length = 0
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    const ask = async (user: number, method: string, target: string, body?: Json) => {
      const [path = '', query = ''] = target.split('?')
      const headers = { 'x-user': `${user}` }
      const response = await service.handle({ method, path, query, headers, body, site: 'none' })
      return { status: response.status, text: JSON.stringify(response.body) }
    }
    const stored = async () => {
      const { id, ...values } = (await service.system.records.pet.findOne(1)) as JsonObject
      return values
    }

    const masked = { phone: null, email: null, vet: null }
    const cases: readonly [
      what: string,
      user: number,
      method: string,
      target: string,
      body: JsonObject,
      after: object,
    ][] = [
      ['the whole record', 2, 'PUT', '/pet/1', { id: 1, name: 'Max', owner: 1, ...masked }, { name: 'Max' }],
      ['nothing but masked values', 2, 'PATCH', '/pet/1', masked, {}],
      ['by a shortcut', 2, 'GET', '/pet/update/1?vet=&name=Max', {}, { name: 'Max' }],
      ['a record that becomes the requester’s', 2, 'PUT', '/pet/1', { owner: 2, ...masked }, { owner: 2 }],
      ['other values than null', 2, 'PATCH', '/pet/1', { phone: '2', vet: null }, { phone: '2' }],
      ['by its reader', 1, 'PATCH', '/pet/1', { phone: null, vet: null }, { phone: null, vet: null }],
      ['an upsert', 2, 'POST', '/pet?upsert=name', { name: 'Rex', owner: 1, ...masked }, {}],
      ['an attribute that is only written', 2, 'PATCH', '/pet/1', { pin: null }, { pin: null }],
      ['each record that matches', 2, 'PATCH', '/pet?where={"name":"Rex"}', { phone: null }, { phone: null }],
    ]
    for (const [what, user, method, target, body, changed] of cases)
      test(what, async () => {
        const { status, text } = await ask(user, method, target, method === 'GET' ? undefined : body)
        assert.equal(status, 200, text)
        assert.deepEqual(await stored(), { name: 'Rex', owner: 1, ...secrets, ...changed })
      })

    test('null for a required value that the requester reads is refused', async () => {
      assert.equal((await ask(1, 'PUT', '/pet/1', { name: 'Max', email: null })).status, 400)
      assert.equal((await ask(2, 'PUT', '/pet/7', { email: null })).status, 404)
    })

    test('a hook is not given them, and may clear what its requester may not read', async () => {
      await service.system.records.hooked.update(1, { phone: '1' })
      seen.length = 0
      assert.equal((await ask(2, 'PUT', '/hooked/1', { owner: 1, phone: null, note: null })).status, 200)
      assert.deepEqual(seen, [{ owner: 1 }])
      assert.deepEqual(await service.system.records.hooked.findOne(1), { id: 1, owner: 1, phone: '1', note: null })
    })

    test('in a transaction, by what it has changed', async () => {
      await service.as({ id: 2 }).transaction(async ({ pet }) => {
        await pet.update(1, { owner: 2 })
        await pet.update(1, { phone: null })
      })
      assert.equal((await stored()).phone, null)
    })
  })
}
