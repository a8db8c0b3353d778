import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { databases, type TestDatabase } from '../support/databases.ts'
import { LiveTestClient } from '../support/live-client.ts'

/* Rules that compare hidden attributes: a record that is deleted for everyone but stays stored, and a private value. */

interface User {
  readonly id: number
}

const open = (database: string) =>
  createService({
    database,
    auth: { identify: (): User | null => ({ id: 7 }) },
    attributes: { createdAt: false, updatedAt: false },
    models: {
      folder: {
        access: { read: true, update: true },
        attributes: { name: { type: 'string' }, notes: { collection: 'note', via: 'folder' } },
      },
      task: {
        access: { read: () => ({ not: { isSecret: true } }), create: true, update: true },
        attributes: { text: { type: 'string' }, isSecret: { type: 'boolean', hidden: true, access: { write: true } } },
      },
      sender: { access: { read: true }, attributes: { isBlocked: { type: 'boolean' } } },
      letter: {
        access: { read: () => ({ not: { sender: { isBlocked: true } } }) },
        attributes: { text: { type: 'string' }, sender: { model: 'sender', hidden: true } },
      },
      note: {
        access: {
          read: () => ({ deletedBy: null }),
          create: () => ({ deletedBy: null }),
          update: () => ({ not: { locked: true } }),
          destroy: () => ({ not: { locked: true } }),
        },
        attributes: {
          text: { type: 'string' },
          author: { type: 'string', access: { read: () => ({ isPrivate: false }) } },
          folder: { model: 'folder' },
          deletedBy: { type: 'number', hidden: true, access: { write: true } },
          isPrivate: { type: 'boolean', defaultsTo: false, hidden: true },
          locked: { type: 'boolean', hidden: true },
        },
      },
    },
  })
type TestService = Awaited<ReturnType<typeof open>>

for (const database of databases) {
  describe(`rules on hidden attributes on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: TestService
    let url: string
    let pick: Awaited<ReturnType<typeof as>>
    const as = async (user: User | null) => service.as(user).records

    before(async () => {
      opened = await database.open()
      service = await open(opened.url)
      url = (await service.listen(0)).url
      pick = await as({ id: 7 })
      const { folder, note } = service.system.records
      await folder.create({ id: 1, name: 'Letters' })
      const notes = [
        { text: 'seen', author: 'Ann' },
        { text: 'gone', author: 'Ann', deletedBy: 3 },
        { text: 'private', author: 'Bob', isPrivate: true },
        { text: 'locked', author: 'Cleo', locked: true },
        { text: 'last', author: 'Dora' },
      ]
      for (const [index, values] of notes.entries()) await note.create({ id: index + 1, folder: 1, ...values })
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    const texts = (records: readonly { readonly text: string | null }[]) => records.map(({ text }) => text)
    const get = async (path: string) => {
      const response = await fetch(url + path)
      return { status: response.status, headers: response.headers, body: (await response.json()) as never }
    }
    const readable = ['seen', 'private', 'locked', 'last']

    test('lists, counts, records and embedded lists', async () => {
      const { status, body, headers } = await get('/note?count=true&populate=false')
      assert.deepEqual([status, texts(body), headers.get('X-Total-Count')], [200, readable, '4'])
      assert.equal((await get('/note/2')).status, 404)
      assert.equal((await get('/note/1')).status, 200)
      const [folder] = (await get('/folder?populate=notes')).body as readonly { notes: [] }[]
      assert.deepEqual(texts(folder?.notes ?? []), readable)
      assert.deepEqual(texts((await get('/folder/1/notes')).body), readable)
      assert.equal((await pick.note.find({ count: true })).total, 4)
    })

    test('pages behind a cursor', async () => {
      const found: string[] = []
      for (let cursor = ''; ; ) {
        const { body, headers } = await get(`/note?limit=1&sort=text&populate=false${cursor}`)
        found.push(...(texts(body) as string[]))
        const next = /cursor=([^>&]*)/.exec(headers.get('Link') ?? '')?.[1]
        if (next === undefined) break
        cursor = `&cursor=${next}`
      }
      assert.deepEqual(found, [...readable].sort())
    })

    test('masked values', async () => {
      const { data } = await pick.note.find({ sort: 'id' })
      assert.deepEqual(
        data.map(({ author }) => author),
        ['Ann', null, 'Cleo', 'Dora'],
      )
      assert.deepEqual(texts((await pick.note.find({ where: { author: 'Bob' } })).data), [])
    })

    test('requests name the attributes no more than before', async () => {
      for (const query of ['where={"deletedBy":null}', 'sort=locked', 'select=isPrivate'])
        assert.equal((await get(`/note?${query}`)).status, 400)
    })

    test('writes', async () => {
      const refused = { code: 'E_FORBIDDEN' }
      await assert.rejects(pick.note.update(4, { text: 'no' }), refused)
      await assert.rejects(pick.note.destroy(4), refused)
      await assert.rejects(pick.note.update(2, { text: 'no' }), { code: 'E_NO_SUCH_RECORD' })
      assert.equal((await pick.note.update(1, { text: 'seen' }))?.author, 'Ann')
      const created = await pick.note.create({ text: 'by a user' })
      await assert.rejects(pick.note.create({ text: 'no', deletedBy: 1 } as never), refused)
      await pick.note.destroy((created as { readonly id: number }).id)
    })

    test('a write that makes its record unreadable answers nothing of it', async () => {
      const body = JSON.stringify({ text: 'secret', isSecret: true })
      const headers = { 'Content-Type': 'application/json' }
      const created = await fetch(`${url}/task`, { method: 'POST', headers, body })
      assert.deepEqual([created.status, await created.text()], [204, ''])
      const { id } = (await pick.task.create({ text: 'open' })) as { readonly id: number }
      const updated = await fetch(`${url}/task/${id}`, { method: 'PATCH', headers, body })
      assert.deepEqual([updated.status, await updated.text()], [204, ''])
    })

    test('an event tells what is created; a change starts its listeners from a fresh snapshot', async () => {
      const { note } = service.system.records
      const received: string[] = []
      const events = pick.note.live()
      assert.equal((await events.next()).value?.verb, 'ready')
      await note.create({ id: 20, text: 'unseen', deletedBy: 1 })
      await note.create({ id: 21, text: 'new', author: 'Eve' })
      await note.create({ id: 22, text: 'newer', author: 'Eve', isPrivate: true })
      for await (const event of events) {
        const { verb, id, data } = event as unknown as JsonObject
        received.push(`${verb} ${id} ${JSON.stringify((data as JsonObject | undefined)?.author)}`)
        if (id === 22 || verb === 'reset') break
      }
      assert.deepEqual(received, ['created 21 "Eve"', 'created 22 null'])
      for (const write of [() => note.update(21, { deletedBy: 2 }), () => note.destroy(20)]) {
        const again = pick.note.live()
        assert.equal((await again.next()).value?.verb, 'ready')
        await write()
        assert.equal((await again.next()).value?.verb, 'reset')
        await again.return?.(undefined)
      }
      assert.equal((await pick.note.findOne(21)) ?? undefined, undefined)
      await note.destroy(22)
    })

    test('a hidden reference is not taken for none', async () => {
      const { sender, letter } = service.system.records
      await sender.createMany([
        { id: 1, isBlocked: true },
        { id: 2, isBlocked: false },
      ])
      const events = pick.letter.live()
      assert.equal((await events.next()).value?.verb, 'ready')
      await letter.create({ id: 1, text: 'unseen', sender: 1 })
      await letter.create({ id: 2, text: 'seen', sender: 2 })
      const { value } = await events.next()
      assert.deepEqual([value?.verb, value?.verb === 'created' && value.id], ['created', 2])
      await letter.update(1, { text: 'still unseen' })
      assert.equal((await events.next()).value?.verb, 'reset')
      await events.return?.(undefined)
    })

    test('a live query loses what was deleted, and gets what was restored', async () => {
      const { note } = service.system.records
      const client = await LiveTestClient.open(url, { notes: { model: 'note', where: { folder: 1 }, sort: 'id' } })
      const shown = (...expected: string[]) =>
        client.until(() => JSON.stringify(client.rows('notes')?.map(({ text }) => text)) === JSON.stringify(expected))
      await shown(...readable)
      await note.update(5, { deletedBy: 7 })
      await shown('seen', 'private', 'locked')
      await note.update(5, { deletedBy: null })
      await shown(...readable)
      await client.close()
    })

    test('an event stream ends where an event cannot be judged, and shows nothing of it', async () => {
      const { note } = service.system.records
      const abort = new AbortController()
      const response = await fetch(`${url}/note`, { headers: { accept: 'text/event-stream' }, signal: abort.signal })
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      const decoder = new TextDecoder()
      let text = ''
      const until = async (part: string) => {
        while (!text.includes(part)) {
          const { value, done } = await reader.read()
          if (done) assert.fail(`${part} is not in ${text}`)
          text += decoder.decode(value, { stream: true })
        }
      }
      await until('event: ready')
      await note.update(1, { text: 'deleted now', deletedBy: 5 })
      await until('event: reset')
      assert.ok(!text.includes('deleted now'))
      abort.abort()
      await note.update(1, { text: 'seen', deletedBy: null })
    })
  })
}

describe('a hidden attribute', () => {
  const password = { type: 'string', required: true, hidden: true } as const
  for (const [what, user, others, status] of [
    ['of a model without rules is written by requesters', { attributes: { password } }, {}, 201],
    [
      'also where another model has an attribute that is only read',
      { attributes: { password } },
      { page: { attributes: { words: { type: 'string', readOnly: true } } } },
      201,
    ],
    ['and where another model has rules', { attributes: { password } }, { page: { access: { read: true } } }, 201],
    ['of a model with rules is not', { access: { create: true }, attributes: { password } }, {}, 400],
    [
      'nor is one of a model with a rule on an attribute',
      { attributes: { password, email: { type: 'string', access: { read: false } } } },
      {},
      400,
    ],
    [
      'unless a rule of its own says so',
      { access: { create: true }, attributes: { password: { ...password, access: { write: true } } } },
      {},
      204,
    ],
  ] as const) {
    test(what, async () => {
      const models = { user, ...others }
      await using service = await createService({ database: 'memory:', models } as never)
      const response = await service.fetch(
        new Request('http://localhost/user', {
          method: 'POST',
          body: '{"password":"secret"}',
          headers: { 'Content-Type': 'application/json' },
        }),
      )
      assert.equal(response.status, status)
      assert.doesNotMatch(await response.text(), /secret/)
    })
  }
})
