import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService, type Service } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* A change of members after which the requester may not read the record any more is done, and answered with 204. */

const plain = { createdAt: false, updatedAt: false } as const
const ofMember = () => ({ members: { name: 'Ann' } })
const ofPet = () => ({ not: { pets: { name: 'Kit' } } })
const models = {
  person: { access: 'public', attributes: { ...plain, name: { type: 'string' } } },
  team: {
    access: { read: ofMember, update: ofMember },
    attributes: { ...plain, members: { collection: 'person' } },
  },
  owner: { access: { read: ofPet }, attributes: { ...plain, pets: { collection: 'pet', via: 'owner' } } },
  pet: { access: 'public', attributes: { ...plain, name: { type: 'string' }, owner: { model: 'owner' } } },
  /** Of references, with rights by membership. */
  crew: {
    access: { read: ofMember, update: ofMember, add: ofMember, remove: ofMember },
    attributes: { ...plain, members: { collection: 'sailor', via: 'crew' } },
  },
  sailor: { access: 'public', attributes: { ...plain, name: { type: 'string' }, crew: { model: 'crew' } } },
  /** Of pairs, where members are seen by members. */
  club: {
    access: { read: ofMember, update: ofMember },
    attributes: { ...plain, members: { collection: 'fan', via: 'clubs' } },
  },
  fan: {
    access: {
      read: () => ({ or: [{ name: ['Ann', 'Kit'] }, { clubs: { members: { name: 'Ann' } } }] }),
      create: true,
      update: true,
    },
    attributes: { ...plain, name: { type: 'string' }, clubs: { collection: 'club', via: 'members' } },
  },
  /** Readable by the right of a value that the same request changes. */
  album: {
    access: {
      read: () => ({ open: true }),
      update: true,
      add: () => ({ locked: false }),
      remove: () => ({ locked: false }),
    },
    attributes: {
      ...plain,
      open: { type: 'boolean', defaultsTo: true },
      locked: { type: 'boolean', defaultsTo: false },
      members: { collection: 'song' },
    },
  },
  song: { access: 'public', attributes: { ...plain, name: { type: 'string' } } },
  /** With a hook for each member that leaves. */
  gang: {
    access: { read: ofMember, update: true },
    attributes: { ...plain, members: { collection: 'rider', via: 'gang' } },
  },
  rider: {
    access: { read: () => ({ or: [{ name: 'Ann' }, { gang: { members: { name: 'Ann' } } }] }), update: true },
    hooks: { before: { update: ({ values }: { values: object }) => values } },
    attributes: { ...plain, name: { type: 'string' }, gang: { model: 'gang' } },
  },
} as const

const writes: readonly (readonly [method: string, path: string, body: unknown, members: readonly number[]])[] = [
  ['DELETE', '/team/ID/members/1', undefined, [2]],
  ['PUT', '/team/ID/members', [], []],
  ['PATCH', '/team/ID', { members: [] }, []],
  ['PUT', '/owner/ID/pets', [1], [1]],
  ['POST', '/owner/ID/pets', { id: 1 }, [1]],
]

const memberOf = { crew: 'sailor', club: 'fan', album: 'song', gang: 'rider' } as const

/** Of a record with the members 1, Ann, and 2, Bob; 3 is Kit. */
const replacements: readonly (readonly [
  method: string,
  path: string,
  body: unknown,
  status: number,
  members: readonly number[],
  locked?: boolean,
])[] = [
  ['PUT', '/crew/ID/members', [2], 204, [2]],
  ['PUT', '/crew/ID/members', [3], 204, [3]],
  ['PUT', '/crew/ID/members', [3, 2], 204, [2, 3]],
  ['PUT', '/crew/ID/members', [1, 3], 200, [1, 3]],
  ['PUT', '/crew/ID/members', [99], 400, [1, 2]],
  ['PATCH', '/crew/ID', { members: [2, 3] }, 204, [2, 3]],
  ['PATCH', '/crew/ID', { members: [2, { name: 'Tom' }] }, 204, [2, 4]],
  ['PUT', '/club/ID/members', [2], 204, [2]],
  ['PUT', '/club/ID/members', [3, 2], 204, [2, 3]],
  ['PATCH', '/club/ID', { members: [2, 3] }, 204, [2, 3]],
  ['PATCH', '/club/ID', { members: [{ name: 'Tom' }] }, 204, [4]],
  ['PATCH', '/album/ID', { open: false, members: [] }, 204, []],
  ['PATCH', '/album/ID', { open: false, members: [2, 3] }, 204, [2, 3]],
  ['PATCH', '/album/ID', { open: false, members: [] }, 403, [1, 2], true],
  ['PATCH', '/album/ID', { open: false, members: [1, 2, 3] }, 403, [1, 2], true],
  ['PUT', '/gang/ID/members', [], 403, [1, 2]],
]

for (const database of databases) {
  describe(`the last right to a record on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Service<typeof models>
    before(async () => {
      opened = await database.open()
      service = await createService({ database: opened.url, models })
      const { person, pet } = service.system.records
      for (const name of ['Ann', 'Bob']) await person.create({ name })
      await pet.create({ name: 'Kit' })
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    for (const [method, path, body, status, expected, locked] of replacements) {
      test(`${method} ${path} ${JSON.stringify(body)}${locked ? ', locked,' : ''} is answered with ${status}`, async () => {
        // biome-ignore lint/suspicious/noExplicitAny: the models are named by the path
        const records = service.system.records as any
        const name = path.split('/')[1] as keyof typeof memberOf
        const owner = records[name]
        const members = records[memberOf[name]]
        await members.destroyMany({ where: { id: { '!=': null } } })
        await members.createMany(['Ann', 'Bob', 'Kit'].map((name, index) => ({ id: index + 1, name })))
        const { id } = await owner.create({ members: [1, 2], ...(locked && { locked }) })
        const answer = await send(method, path.replace('ID', String(id)), body)
        assert.equal(answer.status, status, answer.text)
        const { data } = await owner.related(id, 'members', { sort: 'name' })
        const names = data.map(({ name }: { name: string }) => name)
        assert.deepEqual(
          names,
          expected.map((key) => ['Ann', 'Bob', 'Kit', 'Tom'][key - 1]),
        )
      })
    }

    const send = async (method: string, path: string, body: unknown) => {
      const init = { method, headers: { 'Content-Type': 'application/json' } }
      const request = new Request(`http://localhost${path}`, {
        ...init,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const response = await service.fetch(request)
      const text = await response.text()
      return { status: response.status, text }
    }
    const setUp = async (path: string) => {
      const { team, owner } = service.system.records
      const { id } = path.startsWith('/team') ? await team.create({ members: [1, 2] }) : await owner.create({})
      const members = async () => {
        const { data } = path.startsWith('/team') ? await team.related(id, 'members') : await owner.related(id, 'pets')
        return data.map(({ id }) => id)
      }
      return { place: path.replace('ID', String(id)), members }
    }

    for (const [method, path, body, expected] of writes) {
      test(`${method} ${path} ${JSON.stringify(body ?? '')}`, async () => {
        const { place, members } = await setUp(path)
        assert.deepEqual(await send(method, place, body), { status: 204, text: '' })
        assert.deepEqual(await members(), expected)
        assert.equal((await send('GET', place, undefined)).status, 404)
      })

      test(`${method} ${path} ${JSON.stringify(body ?? '')} in a batch`, async () => {
        const { place, members } = await setUp(path)
        const { status, text } = await send('POST', '/batch', [
          { method, url: place, ...(body !== undefined && { body }) },
        ])
        assert.equal(status, 200, text)
        assert.equal(JSON.parse(text)[0].status, 204)
        assert.deepEqual(await members(), expected)
      })
    }
  })
}
