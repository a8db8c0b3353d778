import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import type { Json, JsonObject } from '../../src/protocol/json.ts'

/* To change the members of an association is to write a foreign key, under the rules of that key. */

const open = () =>
  createService({
    database: 'sqlite::memory:',
    auth: { identify: ({ headers }) => ({ id: 1, role: String(headers['x-role'] ?? 'member') }) },
    attributes: { createdAt: false, updatedAt: false },
    models: {
      owner: {
        access: 'public',
        attributes: {
          name: { type: 'string', unique: true },
          pets: { collection: 'pet', via: 'owner' },
          wards: { collection: 'pet', via: 'keeper' },
          finds: { collection: 'pet', via: 'finderKey' },
          patients: { collection: 'pet', via: 'vet' },
          guests: { collection: 'pet', via: 'host' },
          clubs: { collection: 'pet', through: 'club', via: 'leader' },
          visits: { collection: 'pet', through: 'visit', via: 'visitor' },
          friends: { collection: 'pet' },
        },
      },
      pet: {
        access: 'public',
        attributes: {
          name: { type: 'string' },
          owner: { model: 'owner', readOnly: true },
          keeper: { model: 'owner', access: { write: 'admin' } },
          finderKey: { model: 'owner', hidden: true },
          vet: { model: 'owner' },
          host: { model: 'owner', hidden: true, access: { write: true } },
          clubs: { collection: 'owner', through: 'club', via: 'member' },
          visits: { collection: 'owner', through: 'visit', via: 'visited' },
        },
      },
      club: {
        access: 'public',
        attributes: { leader: { model: 'owner', access: { write: 'admin' } }, member: { model: 'pet' } },
      },
      visit: {
        access: 'public',
        attributes: { visitor: { model: 'owner' }, visited: { model: 'pet', readOnly: true } },
      },
    },
  })

/** The association, what is declared for its key, and the requesters that may write it. */
const associations: readonly (readonly [name: string, key: string, roles: readonly string[]])[] = [
  ['pets', 'readOnly', []],
  ['wards', 'access.write', ['admin']],
  ['finds', 'hidden', []],
  ['patients', 'nothing', ['member', 'admin']],
  ['guests', 'hidden with access.write', ['member', 'admin']],
  ['clubs', 'access.write of the near key of a through model', ['admin']],
  ['visits', 'readOnly of the far key of a through model', []],
  ['friends', 'nothing of a junction', ['member', 'admin']],
]

// biome-ignore lint/suspicious/noExplicitAny: the names of associations are those of a table
type AnyRecords = any
interface Way {
  readonly title: string
  readonly http: (association: string) => readonly [method: string, path: string, body?: Json]
  /** Undefined: not possible in the process. */
  readonly inProcess?: (owner: AnyRecords, association: string) => Promise<unknown>
}

const ways: readonly Way[] = [
  {
    title: 'add',
    http: (name) => ['PUT', `/owner/1/${name}/2`],
    inProcess: (owner, name) => owner.add(1, name, 2),
  },
  { title: 'add by GET', http: (name) => ['GET', `/owner/1/${name}/add/2`] },
  { title: 'add a new record', http: (name) => ['POST', `/owner/1/${name}`, { name: 'New' }] },
  {
    title: 'remove',
    http: (name) => ['DELETE', `/owner/1/${name}/1`],
    inProcess: (owner, name) => owner.remove(1, name, 1),
  },
  { title: 'remove by GET', http: (name) => ['GET', `/owner/1/${name}/remove/1`] },
  {
    title: 'replace',
    http: (name) => ['PUT', `/owner/1/${name}`, [2]],
    inProcess: (owner, name) => owner.replace(1, name, [2]),
  },
  {
    title: 'update',
    http: (name) => ['PATCH', '/owner/1', { [name]: [2] }],
    inProcess: (owner, name) => owner.update(1, { [name]: [2] }),
  },
  {
    title: 'update with a new record',
    http: (name) => ['PATCH', '/owner/1', { [name]: [1, { name: 'New' }] }],
    inProcess: (owner, name) => owner.update(1, { [name]: [1, { name: 'New' }] }),
  },
  {
    title: 'create',
    http: (name) => ['POST', '/owner', { name: 'Cleo', [name]: [1] }],
    inProcess: (owner, name) => owner.create({ name: 'Cleo', [name]: [1] }),
  },
  {
    title: 'create with a new record',
    http: (name) => ['POST', '/owner', { name: 'Cleo', [name]: [{ name: 'New' }] }],
    inProcess: (owner, name) => owner.create({ name: 'Cleo', [name]: [{ name: 'New' }] }),
  },
  {
    title: 'upsert',
    http: (name) => ['POST', '/owner?upsert=name', { name: 'Ann', [name]: [2] }],
    inProcess: (owner, name) => owner.upsert('name', { name: 'Ann', [name]: [2] }),
  },
  { title: 'batch', http: (name) => ['POST', '/batch', [{ method: 'PUT', url: `/owner/1/${name}/2` }]] },
]

describe('members under the rules of the foreign key', () => {
  let service: Awaited<ReturnType<typeof open>>
  let records: AnyRecords

  before(async () => {
    service = await open()
    records = service.system.records
  })
  after(() => service.close())
  beforeEach(async () => {
    for (const model of [records.club, records.visit, records.pet, records.owner])
      await model.destroyMany({ where: { id: { '!=': null } } })
    await records.owner.create({ id: 1, name: 'Ann' })
    await records.pet.createMany([
      { id: 1, name: 'Rex', owner: 1, keeper: 1, finderKey: 1, vet: 1, host: 1 },
      { id: 2, name: 'Tom' },
    ])
    for (const name of ['clubs', 'visits', 'friends']) await records.owner.add(1, name, 1)
  })

  const members = async () => {
    const lists: Record<string, Json> = { pets: await records.pet.count(), owners: await records.owner.count() }
    for (const [name] of associations) {
      const { data } = await records.owner.related(1, name, { sort: 'id' })
      lists[name] = data.map(({ id }: JsonObject) => id)
    }
    return lists
  }

  const send = async (role: string, method: string, path: string, body?: Json) => {
    const headers = { 'x-role': role, 'Content-Type': 'application/json' }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const response = await service.fetch(new Request(`http://localhost${path}`, init))
    return { status: response.status, text: await response.text() }
  }

  for (const [name, key, roles] of associations) {
    for (const role of ['member', 'admin']) {
      const isAllowed = roles.includes(role)
      for (const { title, http, inProcess } of ways) {
        test(`${key}: ${title} by ${role} over HTTP is ${isAllowed ? 'done' : 'refused'}`, async () => {
          const earlier = await members()
          const { status, text } = await send(role, ...http(name))
          if (isAllowed) return assert.ok(status < 300, text)
          assert.equal(status, 403, text)
          assert.match(text, new RegExp(`You may not write \\\\"${name}\\\\" of owner`))
          assert.doesNotMatch(text, /finderKey/)
          assert.deepEqual(await members(), earlier)
        })
        if (!inProcess) continue
        test(`${key}: ${title} by ${role} in the process is ${isAllowed ? 'done' : 'refused'}`, async () => {
          const earlier = await members()
          const done = inProcess(service.as({ id: 1, role }).records.owner, name)
          if (isAllowed) return void (await done)
          const message = `You may not write "${name}" of owner`
          await assert.rejects(done, { code: 'E_FORBIDDEN', message, details: { attribute: name } })
          assert.deepEqual(await members(), earlier)
        })
      }
    }
    for (const { title, inProcess } of ways) {
      if (!inProcess) continue
      test(`${key}: ${title} by the system is done`, async () => {
        await inProcess(records.owner, name)
      })
    }
  }

  test('the other side of an association with a through model is refused as well', async () => {
    for (const [method, path] of [
      ['PUT', '/pet/2/clubs/1'],
      ['DELETE', '/pet/1/visits/1'],
    ] as const)
      assert.equal((await send('member', method, path)).status, 403, path)
  })

  test('a member whose own members are given is refused by their key', async () => {
    const { status, text } = await send('member', 'POST', '/pet', { vet: { name: 'Dora', pets: [2] } })
    assert.equal(status, 403, text)
    assert.match(text, /You may not write \\"pets\\" of owner/)
  })
})
