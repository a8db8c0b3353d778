import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createService, ServiceError } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* What a hook is given and may do: values, rules, records, and hooks that run each other. */

const seen: unknown[] = []
const reported: unknown[] = []

const models = {
  note: {
    attributes: {
      createdAt: false,
      updatedAt: false,
      title: { type: 'string', required: true, maxLength: 10 },
      size: { type: 'number' },
      due: { type: 'datetime' },
      author: { type: 'string' },
      stamp: { type: 'string', readOnly: true },
      secret: { type: 'string', hidden: true },
      hiddenFrom: { type: 'string', defaultsTo: 'no one' },
    },
    access: {
      read: ({ user }: { user: { name: string } | null }) => ({ hiddenFrom: { '!=': user?.name ?? 'nobody' } }),
      create: ({ user }: { user: { name: string } | null }) => ({ author: user?.name ?? 'nobody' }),
      update: ({ user }: { user: { name: string } | null }) => ({ author: user?.name ?? 'nobody' }),
      destroy: ({ user }: { user: { name: string } | null }) => ({ author: user?.name ?? 'nobody' }),
    },
    hooks: {
      before: {
        // biome-ignore lint/suspicious/noExplicitAny: as an application without types writes it
        create: async (values: any, { user, isSystem, records, system }: any) => {
          seen.push({ values: { ...values }, user, isSystem })
          switch (values.title.trim()) {
            case 'mutate':
              values.size = 7
              return undefined
            case 'steal':
              return { ...values, author: 'eve' }
            case 'long':
              return { ...values, title: 'x'.repeat(11) }
            case 'unknown':
              return { ...values, nonsense: 1 }
            case 'list':
              return [values]
            case 'map':
              return new Map(Object.entries(values))
            case 'date':
              return { ...values, due: new Date(0) }
            case 'count':
              return { ...values, size: await records.note.count(), stamp: `${await system.records.note.count()}` }
            case 'leak':
              return system.records.log.create({})
            case 'rules':
              return records.log.create({ text: 'mine' })
            case 'throw':
              throw 'a text'
            case 'again':
              return records.note.create({ title: 'again', author: user?.name })
            case 'caught':
              return system.records.log.create({}).catch((error: ServiceError) => ({ ...values, stamp: error.code }))
          }
          return { ...values, title: values.title.trim(), author: values.author ?? user?.name, stamp: 'hook' }
        },
        // biome-ignore lint/suspicious/noExplicitAny: see above
        update: (values: any, { previous }: any) => {
          seen.push(previous)
          return { ...previous, ...values }
        },
        // biome-ignore lint/suspicious/noExplicitAny: see above
        destroy: ({ previous }: any) => void seen.push(previous),
      },
    },
  },
  log: {
    attributes: { text: { type: 'string', required: true } },
    access: { read: false, create: false },
    hooks: {
      within: {
        // biome-ignore lint/suspicious/noExplicitAny: see above
        create: async ({ record, tx, isSystem }: any) => {
          seen.push(isSystem)
          if (record.text === 'endless') await tx.log.create({ text: 'endless' })
          if (record.text === 'late') setImmediate(() => tx.log.create({ text: 'x' }).catch((e: Error) => seen.push(e)))
          if (record.text === 'swallow') await tx.log.create({}).catch(() => {})
          if (record.text === 'refused') await tx.note.create({ title: 'refused', size: 'x' })
        },
      },
    },
  },
} as const

for (const database of databases) {
  describe(`rules of hooks on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    // biome-ignore lint/suspicious/noExplicitAny: the types of records are not the subject
    let service: any
    before(async () => {
      opened = await database.open()
      const onError = (error: unknown) => reported.push(error)
      service = await createService({ models, database: opened.url, onError } as never)
    })
    beforeEach(async () => {
      for (const model of ['note', 'log'])
        for (const { id } of (await service.system.records[model].find()).data)
          await service.system.records[model].destroy(id)
      seen.length = 0
      reported.length = 0
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })
    const ann = () => service.as({ name: 'Ann' }).records
    const all = () => service.system.records
    const post = (path: string, body: string, type = 'application/json') =>
      service.fetch(new Request(`http://localhost${path}`, { method: 'POST', headers: { 'content-type': type }, body }))
    const refused = (status: number, code?: string) => (error: unknown) =>
      error instanceof ServiceError && error.status === status && (code === undefined || error.code === code)

    test('values are given in the form of their types', async () => {
      await post('/note', 'title=%20a%20&size=12&author=nobody', 'application/x-www-form-urlencoded')
      assert.deepEqual(seen, [{ values: { title: ' a ', size: 12, author: 'nobody' }, user: null, isSystem: false }])
      assert.equal((await all().note.find()).data[0].title, 'a')
    })

    test('values of another type are refused before the hook', async () => {
      assert.equal((await post('/note', '{"title": 5, "size": "many"}')).status, 400)
      assert.deepEqual(seen, [])
    })

    test('a hook that fails on a missing value refuses the value', async () => {
      const response = await post('/note', '{}')
      assert.equal(response.status, 400)
      assert.match(await response.text(), /title is required.*the hook before\.create of note failed/)
      assert.deepEqual(reported, [])
    })

    const results: readonly (readonly [title: string, expected: object])[] = [
      ['mutate', { size: 7 }],
      ['date', { due: '1970-01-01T00:00:00.000Z' }],
    ]
    for (const [title, expected] of results) {
      test(`what it returns is written: ${title}`, async () => {
        const record = await all().note.create({ title })
        for (const [name, value] of Object.entries(expected)) assert.equal(record[name], value)
      })
    }

    test('an attribute that the requester may not write may be set', async () => {
      const { id, stamp } = await ann().note.create({ title: 'a' })
      assert.equal(stamp, 'hook')
      await assert.rejects(ann().note.update(id, { stamp: 'mine' }), refused(403))
    })

    test('what it returns is validated, and checked by the rules', async () => {
      await assert.rejects(ann().note.create({ title: 'long' }), refused(400, 'E_INVALID_ATTRIBUTES'))
      await assert.rejects(ann().note.create({ title: 'steal' }), refused(403, 'E_FORBIDDEN'))
      assert.equal(await all().note.count(), 0)
    })

    for (const title of ['unknown', 'list', 'map']) {
      test(`what is no value is an error of the application: ${title}`, async () => {
        assert.equal((await post('/note', JSON.stringify({ title, author: 'nobody' }))).status, 500)
        assert.match(String(reported[0]), /before\.create of note/)
      })
    }

    test('records are those of the requester, and the system has all', async () => {
      await all().note.create({ title: 'x', hiddenFrom: 'Ann', author: 'Bob' })
      const { size, stamp } = await ann().note.create({ title: 'count', author: 'Ann' })
      assert.deepEqual([size, stamp], [0, '1'])
      await assert.rejects(ann().note.create({ title: 'rules', author: 'Ann' }), refused(403))
    })

    test('in a transaction, records belong to it', async () => {
      const made = await service.system.transaction(async (tx: typeof service.system.records) => {
        await tx.note.create({ title: 'x' })
        return tx.note.create({ title: 'count' })
      })
      assert.deepEqual([made.size, made.stamp], [1, '1'])
    })

    test('an operation of the system that fails is an error of the application', async () => {
      const response = await post('/note', '{"title": "leak", "author": "nobody"}')
      assert.equal(response.status, 500)
      assert.doesNotMatch(await response.text(), /text/)
      assert.match(String(reported[0]), /before\.create of note failed: text is required/)
      assert.equal((await all().note.create({ title: 'caught' })).stamp, 'E_INVALID_ATTRIBUTES')
    })

    test('no hook runs for a record that the requester may not read or write', async () => {
      const unread = await all().note.create({ title: 'x', hiddenFrom: 'Ann', author: 'Ann' })
      const foreign = await all().note.create({ title: 'y', author: 'Bob', secret: 's' })
      seen.length = 0
      await assert.rejects(ann().note.update(unread.id, { title: 'z' }), refused(404))
      await assert.rejects(ann().note.destroy(unread.id), refused(404))
      await assert.rejects(ann().note.update(foreign.id, { title: 'z' }), refused(403))
      await assert.rejects(ann().note.destroy(foreign.id), refused(403))
      await assert.rejects(ann().note.update(99_999, { title: 5 }), refused(404))
      assert.deepEqual(seen, [])
    })

    test('an update may return the previous record: keys and times are ignored', async () => {
      const { id } = await all().note.create({ title: 'x', size: 1 })
      assert.equal((await all().note.update(id, { size: 2 })).size, 2)
      assert.equal((await all().note.findOne(id)).title, 'x')
    })

    test('what is thrown and is no error is reported with the name of the hook', async () => {
      assert.equal((await post('/note', '{"title": "throw", "author": "nobody"}')).status, 500)
      assert.match(String(reported[0]), /The hook before\.create of note threw 'a text'/)
    })

    test('a hook that writes its own model without end is bounded', async () => {
      await assert.rejects(
        ann().note.create({ title: 'again', author: 'Ann' }),
        /maxHookDepth\): before\.create of note →/,
      )
      assert.equal(await all().note.count(), 0)
    })

    test('hooks that run each other are bounded', async () => {
      const failing = all().log.create({ text: 'endless' })
      await assert.rejects(failing, /more than 8 levels deep \(maxHookDepth\): within\.create of log → within\.create/)
      assert.equal(await all().log.count(), 0)
      assert.deepEqual(new Set(seen), new Set([true]))
    })

    test('the records of the transaction cannot be used after the hook', async () => {
      await all().log.create({ text: 'late' })
      while (seen.length < 2) await new Promise(setImmediate)
      assert.match(String(seen[1]), /has ended/)
    })

    test('a write of the transaction that fails is not swallowed, and not sent to the client', async () => {
      await assert.rejects(all().log.create({ text: 'swallow' }), /within\.create of log failed: text is required/)
      await assert.rejects(all().log.create({ text: 'refused' }), /within\.create of log failed: size must be/)
      assert.equal(await all().log.count(), 0)
    })
  })
}

const mistakes: readonly (readonly [hooks: unknown, message: RegExp])[] = [
  [{ befor: {} }, /no `hooks\.befor`; did you mean `hooks\.before`/],
  [{ before: { save: () => {} } }, /no `hooks\.before\.save`; there are `create`, `update`, `destroy`/],
  [{ within: { create: 'audit' } }, /`hooks\.within\.create` must be a function/],
]
for (const [hooks, message] of mistakes) {
  test(`a mistake in the definition is reported at start: ${JSON.stringify(hooks)}`, async () => {
    await assert.rejects(createService({ database: 'memory:', models: { pet: { hooks } } } as never), message)
  })
}
