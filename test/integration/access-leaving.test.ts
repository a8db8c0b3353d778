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
} as const

const writes: readonly (readonly [method: string, path: string, body: unknown, members: readonly number[]])[] = [
  ['DELETE', '/team/ID/members/1', undefined, [2]],
  ['PUT', '/team/ID/members', [], []],
  ['PATCH', '/team/ID', { members: [] }, []],
  ['PUT', '/owner/ID/pets', [1], [1]],
  ['POST', '/owner/ID/pets', { id: 1 }, [1]],
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
