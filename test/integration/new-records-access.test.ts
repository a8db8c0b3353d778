import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService, type Service } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* A record and its members are created together where the requester cannot read the new record before it has members, or at all. */

const plain = { createdAt: false, updatedAt: false } as const
const ofMember = ({ user }: { readonly user: { readonly id: number } | null }) =>
  user !== null && { members: { id: user.id } }
const team = (access: object, side: object = {}) => ({
  access: { create: true, read: ofMember, ...access },
  attributes: { ...plain, name: { type: 'string' }, members: { collection: 'person', ...side } },
})
const unread = { create: true, read: 'admin' } as const
const models = {
  person: {
    access: { read: true, create: true, update: true },
    attributes: { ...plain, name: { type: 'string' }, teams: { collection: 'team', via: 'members' } },
  },
  team: team({ update: ofMember }, { via: 'teams' }),
  oneSided: team({ update: ofMember }),
  addedByAll: team({ add: true }),
  addedByAdmin: team({ update: ofMember, add: 'admin' }),
  addedByMember: team({ update: ofMember, add: ofMember }),
  fixed: team({}),
  club: {
    access: { create: true, read: ofMember, update: ofMember, destroy: ofMember },
    attributes: { ...plain, members: { collection: 'person', through: 'seat', via: 'club' } },
  },
  seat: {
    access: { create: true, read: true },
    attributes: { ...plain, club: { model: 'club' }, person: { model: 'person' } },
  },
  report: {
    access: { ...unread, add: true },
    attributes: {
      ...plain,
      lines: { collection: 'line', via: 'report' },
      notes: { collection: 'note', via: 'report' },
      tags: { collection: 'tag', via: 'reports' },
    },
  },
  line: { access: unread, attributes: { ...plain, report: { model: 'report' }, next: { model: 'line' } } },
  note: {
    access: { ...unread, read: true, update: true },
    attributes: { ...plain, report: { model: 'report' } },
  },
  tag: {
    access: { ...unread, update: true },
    attributes: { ...plain, name: { type: 'string' }, reports: { collection: 'report', via: 'tags' } },
  },
  folder: {
    access: { ...unread, add: 'admin' },
    attributes: { ...plain, files: { collection: 'file', via: 'folder' } },
  },
  file: {
    access: { create: true, read: true, update: true },
    attributes: { ...plain, name: { type: 'string' }, folder: { model: 'folder' } },
  },
} as const

const cases: readonly (readonly [title: string, path: string, body: object, status: number])[] = [
  ['the founder of a team', 'team', { name: 'new', members: [1] }, 201],
  ['another member', 'team', { name: 'new', members: [2] }, 204],
  ['a new member', 'team', { members: [1, { name: 'Cid' }] }, 201],
  ['a member of an association that one model declares', 'oneSided', { members: [1, 2] }, 201],
  ['a rule that allows members', 'addedByAll', { members: [1] }, 201],
  ['a rule that allows members to a role', 'addedByAdmin', { members: [1] }, 403],
  ['a rule that allows members to members', 'addedByMember', { members: [1] }, 403],
  ['no rule for an update', 'fixed', { members: [1] }, 403],
  ['a declared model of the pairs', 'club', { members: [1] }, 201],
  ['the other side', 'person', { teams: [{ name: 'new' }] }, 201],
  ['an unreadable team of the other side', 'person', { teams: [1] }, 400],
  ['new records that refer to it', 'report', { lines: [{}, {}] }, 204],
  ['present records that will refer to it', 'report', { notes: [1] }, 204],
  ['new records that are pairs with it', 'report', { tags: [{ name: 'a' }] }, 204],
  ['unreadable records that would be pairs with it', 'report', { tags: [1] }, 400],
  ['a new record that it refers to', 'line', { report: {} }, 204],
  ['a new record that refers to another', 'line', { report: { lines: [{}] }, next: { report: {} } }, 204],
  ['an unreadable record that it refers to', 'line', { report: 1 }, 400],
  ['an unreadable record beside a new one', 'line', { report: 1, next: { report: {} } }, 400],
  ['new records in one that a role adds to', 'folder', { files: [{ name: 'a' }] }, 403],
  ['present records in one that a role adds to', 'folder', { files: [1] }, 403],
  ['a new record that a role adds to', 'file', { folder: {} }, 403],
]

for (const database of databases) {
  // Where a table was there before, no foreign key checks its references.
  for (const isEnforced of database.name === 'memory' ? [true] : [true, false]) {
    describe(`${database.name}, ${isEnforced ? 'with' : 'without'} foreign keys`, {
      skip: database.missing ?? false,
    }, () => {
      let opened: TestDatabase
      // biome-ignore lint/suspicious/noExplicitAny: the rules of several models are not typed here
      let service: Service<any>
      const identify = () => ({ id: 1, role: 'member' })
      const open = (given: object) =>
        createService({ database: opened.url, auth: { identify }, models: given } as never) as Promise<typeof service>

      before(async () => {
        opened = await database.open()
        if (!isEnforced) await (await open(withoutReferences)).close()
        service = await open(models)
        // biome-ignore lint/suspicious/noExplicitAny: as above
        const { person, team, report, note, tag, file } = service.system.records as any
        for (const name of ['Ann', 'Bob']) await person.create({ name })
        for (const records of [team, report, note, tag, file]) await records.create({})
      })
      after(async () => {
        await service.close()
        await opened[Symbol.asyncDispose]()
      })

      for (const [title, path, body, status] of cases) {
        test(`${title}: POST /${path} ${JSON.stringify(body)}`, async () => {
          // biome-ignore lint/suspicious/noExplicitAny: as above
          const records = service.system.records[path] as any
          const count = await records.count()
          const headers = { 'Content-Type': 'application/json' }
          const request = new Request(`http://localhost/${path}`, {
            method: 'POST',
            headers,
            body: JSON.stringify(body),
          })
          const response = await service.fetch(request)
          const text = await response.text()
          assert.equal(response.status, status, text)
          const isStored = status < 300
          if (isStored) assert.ok((await records.count()) > count)
          else assert.equal(await records.count(), count)
          const created = (await records.find({ sort: 'id DESC', limit: 1 })).data[0]
          for (const [association, members] of isStored ? Object.entries(body) : []) {
            if (!Array.isArray(members)) continue
            assert.equal((await records.related(created.id, association)).data.length, members.length, association)
          }
        })
      }

      test('a record that does not exist is reported before what it would refer to', async () => {
        for (const [path, status] of [
          ['/note/99', 404],
          [`/note?where=${encodeURIComponent('{"id":99}')}`, 200],
        ] as const) {
          const init = { method: 'PATCH', headers: { 'Content-Type': 'application/json' }, body: '{"report":99}' }
          const response = await service.fetch(new Request(`http://localhost${path}`, init))
          assert.equal(response.status, status, await response.text())
        }
        // biome-ignore lint/suspicious/noExplicitAny: as above
        const { note } = service.system.records as any
        await assert.rejects(note.update(99, { report: 99 }), { code: 'E_NO_SUCH_RECORD' })
      })

      test('a new record that is destroyed again is none to refer to', async () => {
        const body = JSON.stringify([
          { method: 'POST', url: '/club', body: { members: [1] } },
          { method: 'DELETE', url: '/club/$0.id' },
          { method: 'POST', url: '/seat', body: { club: { $ref: '0.id' }, person: 1 } },
        ])
        const headers = { 'Content-Type': 'application/json' }
        const response = await service.fetch(new Request('http://localhost/batch', { method: 'POST', headers, body }))
        const [, , answer] = (await response.json()) as readonly { status: number; body: { detail: string } }[]
        assert.equal(answer?.status, 400)
        assert.match(answer?.body.detail ?? '', /^"club"(?: of seat)? names no existing club with the id \d+$/)
      })
    })
  }
}

const withoutReferences = Object.fromEntries(
  (['line', 'note', 'file', 'seat'] as const).map((name) => [
    name,
    {
      attributes: Object.fromEntries(
        Object.entries<unknown>(models[name].attributes).map(([attribute, definition]) => [
          attribute,
          !Object.hasOwn(Object(definition), 'model') ? definition : { type: 'number', isInteger: true },
        ]),
      ),
    },
  ]),
)
