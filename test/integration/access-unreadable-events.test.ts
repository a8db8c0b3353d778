import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* No event tells what a requester may not read: neither that it changed, nor that it refers to a record. */

interface User {
  readonly id: number
  readonly role?: 'admin'
}
const isSelf = ({ user }: { readonly user: User | null }) => ({ id: user?.id ?? null })

const open = (database: string) =>
  createService({
    database,
    auth: { identify: (): User | null => null },
    attributes: { createdAt: false, updatedAt: false },
    models: {
      person: {
        access: 'public',
        attributes: {
          name: { type: 'string' },
          email: { type: 'string', access: { read: isSelf } },
          salary: { type: 'number', access: { read: 'admin' } },
          pin: { type: 'string', hidden: true },
          boss: { model: 'person', access: { read: 'admin' } },
          reports: { collection: 'person', via: 'boss' },
          mentor: { model: 'person', access: { read: isSelf } },
          students: { collection: 'person', via: 'mentor' },
          pets: { collection: 'pet', via: 'owner' },
          teams: { collection: 'team', through: 'membership', via: 'person' },
        },
      },
      pet: {
        access: { read: ({ user }) => user?.role === 'admin' || { owner: user?.id ?? null } },
        attributes: { owner: { model: 'person' } },
      },
      team: {
        access: 'public',
        attributes: { members: { collection: 'person', through: 'membership', via: 'team' } },
      },
      membership: {
        access: { read: ({ user }) => user?.role === 'admin' || { person: user?.id ?? null } },
        attributes: { person: { model: 'person' }, team: { model: 'team' } },
      },
    },
  })
type TestService = Awaited<ReturnType<typeof open>>
type Records = TestService['system']['records']

const ann: User = { id: 1 }
const root: User = { id: 9, role: 'admin' }
const updated = (id: number, ...names: string[]) => `updated ${id} ${['id', ...names]}`

const cases: readonly (readonly [
  title: string,
  write: (records: Records) => Promise<unknown>,
  forAnn: readonly string[],
  forRoot: readonly string[],
])[] = [
  ['a static attribute', ({ person }) => person.update(2, { salary: 3 }), [], [updated(2, 'salary')]],
  ['a masked attribute', ({ person }) => person.update(2, { email: 'b@x' }), [], []],
  ['her own attribute', ({ person }) => person.update(1, { email: 'a@x' }), [updated(1, 'email')], []],
  ['a hidden attribute', ({ person }) => person.update(2, { pin: '1' }), [], []],
  [
    'what she reads as well',
    ({ person }) => person.update(2, { salary: 4, name: 'B' }),
    [updated(2, 'name')],
    [updated(2, 'name', 'salary')],
  ],
  [
    'a reference that she may never read',
    ({ person }) => person.update(2, { boss: 1 }),
    [],
    ['addedTo 1 reports 2', updated(2, 'boss')],
  ],
  ['its end', ({ person }) => person.update(2, { boss: null }), [], ['removedFrom 1 reports 2', updated(2, 'boss')]],
  ['a masked reference', ({ person }) => person.update(2, { mentor: 3 }), [], []],
  ['its end', ({ person }) => person.update(2, { mentor: null }), [], []],
  [
    'her own reference',
    ({ person }) => person.update(1, { mentor: 3 }),
    ['addedTo 3 students 1', updated(1, 'mentor')],
    [],
  ],
  [
    'a new record with references',
    ({ person }) => person.create({ id: 4, boss: 1, mentor: 1 }),
    ['created 4'],
    ['addedTo 1 reports 4', 'created 4'],
  ],
  ['its end', ({ person }) => person.destroy(4), ['destroyed 4'], ['removedFrom 1 reports 4', 'destroyed 4']],
  ['a membership that she may not read', ({ team }) => team.add(1, 'members', 2), [], ['addedTo 2 teams 1']],
  ['its end', ({ team }) => team.remove(1, 'members', 2), [], ['removedFrom 2 teams 1']],
  ['her own membership', ({ team }) => team.add(1, 'members', 1), ['addedTo 1 teams 1'], ['addedTo 1 teams 1']],
  ['its end', ({ team }) => team.remove(1, 'members', 1), ['removedFrom 1 teams 1'], ['removedFrom 1 teams 1']],
  [
    'a record that she loses',
    ({ pet }) => pet.update(1, { owner: 2 }),
    ['removedFrom 1 pets 1'],
    ['addedTo 2 pets 1', 'removedFrom 1 pets 1'],
  ],
  [
    'a record that she gets',
    ({ pet }) => pet.update(1, { owner: 1 }),
    ['addedTo 1 pets 1'],
    ['addedTo 1 pets 1', 'removedFrom 2 pets 1'],
  ],
]

for (const database of databases) {
  describe(database.name, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: TestService
    before(async () => {
      opened = await database.open()
      service = await open(opened.url)
      const { person, team } = service.system.records
      for (const id of [1, 2, 3]) await person.create({ id, name: `${id}` })
      await team.create({ id: 1 })
      await service.system.records.pet.create({ id: 1, owner: 1 })
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    /** The events that a user receives of what is done, in words. */
    const eventsOf = async (user: User, work: () => Promise<unknown>): Promise<readonly string[]> => {
      const { person } = service.system.records
      const received: string[] = []
      const events = service.as(user).records.person.live()
      assert.equal((await events.next()).value?.verb, 'ready')
      await work()
      await person.update(3, { name: `after ${Math.random()}` })
      for await (const event of events) {
        const words = describeEvent(event as unknown as JsonObject)
        if (words === updated(3, 'name')) break
        received.push(words)
      }
      return received
    }

    for (const [title, write, forAnn, forRoot] of cases) {
      test(title, async () => {
        const { records } = service.system
        let written: Promise<unknown> | undefined
        const once = () => (written ??= write(records))
        let ofRoot: readonly string[] = []
        const ofAnn = await eventsOf(ann, async () => {
          ofRoot = await eventsOf(root, once)
        })
        const isOther = (words: string) => words !== updated(3, 'name')
        assert.deepEqual([ofAnn.filter(isOther), ofRoot.filter(isOther)], [forAnn, forRoot])
      })
    }
  })
}

function describeEvent({ verb, id, data, attribute, addedId, removedId }: JsonObject): string {
  if (attribute !== undefined) return `${verb} ${id} ${attribute} ${addedId ?? removedId}`
  return verb === 'updated' ? `${verb} ${id} ${Object.keys(data as JsonObject)}` : `${verb} ${id}`
}
