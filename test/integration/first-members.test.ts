import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* A new record has no members to remove: a rule for that forbids none to be there from the start. */

const plain = { createdAt: false, updatedAt: false } as const
const team = (remove: false | 'admin', side: object) => ({
  access: { read: true, create: true, update: true, destroy: true, add: true, remove },
  attributes: {
    ...plain,
    name: { type: 'string', unique: true },
    members: { collection: 'person', ...side },
    items: { collection: 'item', via: remove === false ? 'team' : 'crew' },
  },
})
const models = {
  person: {
    access: 'public',
    attributes: { ...plain, name: { type: 'string' }, teams: { collection: 'team', via: 'members' } },
  },
  item: {
    access: 'public',
    attributes: { ...plain, name: { type: 'string' }, team: { model: 'team' }, crew: { model: 'crew' } },
  },
  team: team(false, { via: 'teams' }),
  crew: team('admin', {}),
}

const cases: readonly (readonly [title: string, line: string, body: object, status: number])[] = [
  ['pairs', 'POST /team', { members: [1] }, 201],
  ['pairs that one model declares', 'POST /crew', { members: [1] }, 201],
  ['present records', 'POST /team', { items: [1] }, 201],
  ['new records', 'POST /team', { items: [{ name: 'new' }], members: [{ name: 'new' }] }, 201],
  ['a list', 'POST /team', [{ members: [1] }, { items: [{ name: 'new' }] }] as never, 201],
  ['no members', 'POST /crew', { members: [], items: [] }, 201],
  ['the other side', 'POST /person', { teams: [1] }, 201],
  ['a new record of the other side', 'POST /person', { teams: [{ items: [{ name: 'new' }] }] }, 201],
  ['an upsert of a new record', 'POST /crew?upsert=name', { name: 'new', items: [{ name: 'new' }] }, 201],
  ['an item of another team', 'POST /team', { items: [2] }, 403],
  ['an update', 'PATCH /team/1', { members: [1] }, 403],
  ['an update of items', 'PATCH /team/1', { items: [{ name: 'new' }] }, 403],
  ['an upsert of a present record', 'POST /crew?upsert=name', { name: 'first', items: [] }, 403],
  ['a replacement', 'PUT /crew/1/members', [1] as never, 403],
]

for (const database of databases) {
  describe(`first members on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Awaited<ReturnType<typeof createService>>
    before(async () => {
      opened = await database.open()
      service = (await createService({ database: opened.url, models } as never)) as never
      // biome-ignore lint/suspicious/noExplicitAny: the models are made by a function
      const { person, team, crew, item } = service.system.records as any
      await person.create({ name: 'Ann' })
      await team.create({ name: 'first', members: [1] })
      await crew.create({ name: 'first', members: [1] })
      await item.createMany([{ name: 'free' }, { name: 'taken', team: 1 }])
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    for (const [title, line, body, expected] of cases) {
      test(`${title}: ${line} ${JSON.stringify(body)}`, async () => {
        const [method = '', path = ''] = line.split(' ')
        const headers = { 'Content-Type': 'application/json' }
        const request = new Request(`http://localhost${path}`, { method, headers, body: JSON.stringify(body) })
        const response = await service.fetch(request)
        assert.equal(response.status, expected, await response.text())
      })
    }
  })
}
