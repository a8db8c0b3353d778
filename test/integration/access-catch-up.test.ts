import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* A listener that resumes from the log receives what the rules say of what it missed, or `reset` where they cannot. */

interface User {
  readonly id: number
}

const open = (database: string) =>
  createService({
    database,
    auth: { identify: (): User | null => null },
    attributes: { createdAt: false, updatedAt: false },
    models: {
      team: {
        access: { read: ({ user }) => ({ members: { id: user?.id ?? null } }) },
        attributes: { name: { type: 'string' }, members: { collection: 'person' } },
      },
      person: { access: { read: true }, attributes: { name: { type: 'string' } } },
      pet: {
        access: { read: ({ user }) => ({ owner: user?.id ?? null }) },
        attributes: { name: { type: 'string' }, owner: { type: 'number' } },
      },
      note: {
        access: { read: ({ user }) => ({ pet: { owner: user?.id ?? null } }) },
        attributes: { pet: { model: 'pet' } },
      },
      draft: {
        access: { read: ({ user }) => ({ author: user?.id ?? null, deletedBy: null }) },
        attributes: {
          text: { type: 'string' },
          author: { type: 'number' },
          deletedBy: { type: 'number', hidden: true },
        },
      },
    },
  })
type TestService = Awaited<ReturnType<typeof open>>
type Records = TestService['system']['records']
type Listened = keyof typeof lastWrites

/** The last of what is missed, which the listener reads. */
const lastWrites = {
  team: ({ team }: Records): Promise<unknown> => team.update(1, { name: 'end' }),
  pet: ({ pet }: Records): Promise<unknown> => pet.create({ id: 9, name: 'end', owner: 1 }),
  draft: ({ draft }: Records): Promise<unknown> => draft.create({ id: 9, text: 'end', author: 1 }),
}

interface LiveTable {
  live(options?: object): AsyncIterableIterator<JsonObject>
}
interface Table {
  find(): Promise<{ readonly data: readonly { readonly id: number }[] }>
  destroy(id: number): Promise<unknown>
}

const cases: readonly (readonly [
  title: string,
  listened: Listened,
  write: (records: Records) => Promise<unknown>,
  received: readonly string[],
])[] = [
  ['what enters', 'pet', ({ pet }) => pet.update(2, { owner: 1 }), ['created 2 {"id":2,"name":"Kit","owner":1}']],
  ['what leaves, without values', 'pet', ({ pet }) => pet.update(1, { owner: 2, name: 'Max' }), ['destroyed 1']],
  ['what it reads', 'pet', ({ pet }) => pet.update(1, { name: 'Max' }), ['updated 1 {"id":1,"name":"Max"}']],
  ['nothing of what it does not read', 'pet', ({ pet }) => pet.update(2, { name: 'Max' }), []],
  [
    'a record through an association',
    'team',
    ({ team }) => team.update(1, { name: 'A' }),
    ['updated 1 {"id":1,"name":"A"}'],
  ],
  ['`reset` after rights that begin', 'team', ({ team }) => team.add(2, 'members', 1), ['reset']],
  ['`reset` after rights that end', 'team', ({ team }) => team.remove(1, 'members', 1), ['reset']],
  ['no `reset` after a change that decides nothing', 'team', ({ person }) => person.update(2, { name: 'B' }), []],
  [
    'a new record with a hidden attribute',
    'draft',
    ({ draft }) => draft.create({ id: 3, author: 1 }),
    ['created 3 {"id":3,"text":null,"author":1}'],
  ],
  [
    '`reset` after a change that only hidden values may decide',
    'draft',
    ({ draft }) => draft.update(1, { deletedBy: 1 }),
    ['reset'],
  ],
  ['no `reset` where other values decide', 'draft', ({ draft }) => draft.update(2, { deletedBy: 1 }), []],
]

for (const database of databases) {
  describe(`resuming under rules on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: TestService
    before(async () => {
      opened = await database.open()
      service = await open(opened.url)
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })
    beforeEach(async () => {
      const { team, person, pet, draft } = service.system.records
      for (const table of [team, pet, draft, person] as unknown as readonly Table[])
        for (const { id } of (await table.find()).data) await table.destroy(id)
      for (const id of [1, 2]) await person.create({ id, name: `${id}` })
      await team.create({ id: 1, name: 'Vets', members: [1, 2] })
      await team.create({ id: 2, name: 'Others', members: [2] })
      await pet.create({ id: 1, name: 'Rex', owner: 1 })
      await pet.create({ id: 2, name: 'Kit', owner: 2 })
      await draft.create({ id: 1, text: 'a', author: 1 })
      await draft.create({ id: 2, text: 'b', author: 2 })
    })

    /** What a listener receives that was away while something was written, up to the end of the log. */
    const missed = async (listened: Listened, write: () => Promise<unknown>): Promise<readonly string[]> => {
      const table = service.as({ id: 1 }).records[listened] as unknown as LiveTable
      const first = table.live()
      const { value: ready } = await first.next()
      assert.equal(ready.verb, 'ready')
      await first.return?.()
      await write()
      await lastWrites[listened](service.system.records)
      const received: string[] = []
      for await (const { verb, id, data } of table.live({ since: ready.position })) {
        if (JSON.stringify(data ?? null).includes('"end"')) break
        if (verb === 'ready') continue
        received.push([verb, id, data && JSON.stringify(data)].filter((word) => word !== undefined).join(' '))
        if (verb === 'reset') break
      }
      return received
    }

    // The memory store is that of one process.
    test('`reset` from a process without a listener before', {
      skip: database.name === 'memory',
    }, async () => {
      const { note, pet } = service.system.records
      await note.create({ pet: 1 })
      const first = service.as({ id: 1 }).records.note.live()
      const { value: ready } = await first.next()
      await first.return?.()
      await pet.update(1, { owner: 2 })
      await using started = await open(opened.url)
      const resumed = started.as({ id: 1 }).records.note.live({ since: ready?.position as string })
      assert.equal((await resumed.next()).value?.verb, 'reset')
      await resumed.return?.()
    })

    for (const [title, listened, write, received] of cases)
      test(title, async () => assert.deepEqual(await missed(listened, () => write(service.system.records)), received))
  })
}
