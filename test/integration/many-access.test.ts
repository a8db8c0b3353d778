import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createService, type Service } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* Access rules of what writes many records: batches, lists, bulk changes, upserts and repeated writes. */

const plain = { createdAt: false, updatedAt: false } as const
const own = ({ user }: { readonly user: { readonly id: number } | null }) => (user ? { owner: user.id } : false)
const models = {
  note: {
    attributes: {
      ...plain,
      slug: { type: 'string', required: true, unique: true },
      text: { type: 'string' },
      owner: { type: 'number', isInteger: true },
      locked: { type: 'boolean', defaultsTo: false },
      /** Its value is readable for its author only. */
      secret: {
        type: 'string',
        unique: true,
        access: { read: ({ user }: { readonly user: { readonly id: number } | null }) => ({ author: user?.id ?? 0 }) },
      },
      author: { type: 'number', isInteger: true },
    },
    access: {
      read: own,
      create: ({ user }: { readonly user: { readonly id: number } | null }) => (user ? { owner: user.id } : false),
      update: () => ({ locked: false }),
      destroy: () => ({ locked: false }),
    },
  },
  /** May be updated and not created. */
  badge: {
    attributes: { ...plain, name: { type: 'string', unique: true }, level: { type: 'number' } },
    access: { read: true, update: true },
  },
} as const

interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect
  readonly body: any
}

for (const database of databases) {
  describe(`many records under access rules on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Service
    // biome-ignore lint/suspicious/noExplicitAny: the records of the system, for the preparation of tests
    let records: any

    before(async () => {
      opened = await database.open()
      const identify = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) =>
        headers['x-user'] === undefined ? null : { id: Number(headers['x-user']) }
      service = (await createService({ auth: { identify }, models, database: opened.url } as never)) as never
      records = service.system.records
    })
    beforeEach(async () => {
      for (const model of ['note', 'badge']) await records[model].destroyMany({ where: { id: { '!=': null } } })
      await records.note.createMany([
        { slug: 'mine', owner: 1, text: 'a', author: 1, secret: 's1' },
        { slug: 'shared', owner: 1, text: 'a', author: 2, secret: 's2' },
        { slug: 'theirs', owner: 2, text: 'a', author: 2, secret: 's3' },
      ])
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    async function send(user: number, method: string, path: string, body?: unknown, headers = {}): Promise<Answer> {
      const response = await service.fetch(
        new Request(`http://localhost${path}`, {
          method,
          headers: { 'x-user': String(user), 'content-type': 'application/json', ...headers },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      )
      const text = await response.text()
      return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
    }
    const where = (condition: object) => `where=${encodeURIComponent(JSON.stringify(condition))}`
    const texts = async () => (await records.note.find({ sort: 'id' })).data.map(({ text }: { text: string }) => text)

    test('a bulk change concerns the records that the requester may read', async () => {
      const updated = await send(1, 'PATCH', `/note?${where({ text: 'a' })}`, { text: 'b' })
      assert.deepEqual(
        updated.body.map(({ slug }: { slug: string }) => slug),
        ['mine', 'shared'],
      )
      assert.deepEqual(await texts(), ['b', 'b', 'a'])
      assert.deepEqual((await send(1, 'DELETE', `/note?${where({ slug: 'theirs' })}&count=true`)).body, { count: 0 })
      assert.deepEqual((await send(1, 'DELETE', `/note?${where({ id: { '!=': null } })}&count=true`)).body, {
        count: 2,
      })
      assert.deepEqual(await texts(), ['a'])
    })

    test('one record among them that may not be changed refuses all', async () => {
      await records.note.updateMany({ where: { slug: 'shared' } }, { locked: true })
      for (const [method, body] of [
        ['PATCH', { text: 'b' }],
        ['DELETE', undefined],
      ] as const) {
        const answer = await send(1, method, `/note?${where({ text: 'a' })}`, body)
        assert.equal(answer.body.code, 'E_FORBIDDEN')
      }
      assert.deepEqual(await texts(), ['a', 'a', 'a'])
    })

    test('the rule holds for the records as they are afterwards', async () => {
      const answer = await send(1, 'PATCH', `/note?${where({ slug: 'mine' })}`, { locked: true })
      assert.equal(answer.body.code, 'E_FORBIDDEN')
      const given = await send(1, 'PATCH', `/note?${where({ slug: 'mine' })}`, { owner: 2 })
      assert.deepEqual([given.status, given.body], [200, []])
    })

    test('a value that is not readable selects nothing', async () => {
      for (const secret of ['s2', 's3'])
        for (const method of ['PATCH', 'DELETE'])
          assert.deepEqual(
            (
              await send(
                1,
                method,
                `/note?${where({ secret })}&count=true`,
                method === 'PATCH' ? { text: 'x' } : undefined,
              )
            ).body,
            { count: 0 },
          )
      assert.deepEqual((await send(1, 'PATCH', `/note?${where({ secret: 's1' })}&count=true`, { text: 'b' })).body, {
        count: 1,
      })
      assert.deepEqual(await texts(), ['b', 'a', 'a'])
    })

    test('an upsert of a hidden record is refused like a create, and changes nothing', async () => {
      const values = { slug: 'theirs', owner: 1, text: 'stolen' }
      const upserted = await send(1, 'POST', '/note?upsert=slug', values)
      const created = await send(1, 'POST', '/note', values)
      assert.deepEqual([upserted.status, upserted.body], [created.status, created.body])
      assert.equal(upserted.body.code, 'E_CONFLICT')
      const batch = await send(1, 'POST', '/batch', [{ method: 'POST', url: '/note?upsert=slug', body: values }])
      assert.equal(batch.body[0].body.code, 'E_CONFLICT')
      assert.deepEqual(await texts(), ['a', 'a', 'a'])
    })

    test('an upsert by a value that is not readable is refused like a create', async () => {
      const values = { slug: 'new', owner: 1, secret: 's2', text: 'x' }
      const upserted = await send(1, 'POST', '/note?upsert=secret', values)
      const created = await send(1, 'POST', '/note', values)
      assert.deepEqual([upserted.status, upserted.body], [created.status, created.body])
      assert.deepEqual(await texts(), ['a', 'a', 'a'])
      assert.equal(
        (await send(1, 'POST', '/note?upsert=secret', { slug: 'mine', owner: 1, secret: 's1', text: 'b' })).status,
        200,
      )
    })

    test('an upsert needs the right to what it does', async () => {
      assert.equal((await send(1, 'POST', '/badge?upsert=name', { name: 'gold', level: 1 })).status, 403)
      await records.badge.create({ name: 'gold', level: 1 })
      assert.equal((await send(1, 'POST', '/badge?upsert=name', { name: 'gold', level: 2 })).status, 200)
      await records.note.updateMany({ where: { slug: 'mine' } }, { locked: true })
      assert.equal((await send(1, 'POST', '/note?upsert=slug', { slug: 'mine', text: 'b' })).status, 403)
      assert.equal((await send(1, 'POST', '/note?upsert=slug', { slug: 'new', owner: 2 })).status, 403)
    })

    test('a list with one record that may not be created creates none', async () => {
      const answer = await send(1, 'POST', '/note', [
        { slug: 'x', owner: 1 },
        { slug: 'y', owner: 2 },
      ])
      assert.equal(answer.body.code, 'E_FORBIDDEN')
      const taken = await send(1, 'POST', '/note', [
        { slug: 'x', owner: 1 },
        { slug: 'theirs', owner: 1 },
        { slug: 'z', owner: 1 },
      ])
      assert.equal(taken.body.code, 'E_CONFLICT')
      const visible = await send(1, 'POST', '/note', [
        { slug: 'x', owner: 1 },
        { slug: 'mine', owner: 1 },
      ])
      assert.equal(visible.body.code, 'E_INVALID_ATTRIBUTES')
      assert.equal((await texts()).length, 3)
    })

    test('each request of a batch has the rules and the concealment of the request alone', async () => {
      const id = async (slug: string) => (await records.note.find({ where: { slug } })).data[0].id
      const [theirs, mine] = [await id('theirs'), await id('mine')]
      const requests: readonly (readonly [method: string, url: string, body?: object])[] = [
        ['GET', `/note/${theirs}`],
        ['PATCH', `/note/${theirs}`, { text: 'b' }],
        ['DELETE', `/note/${theirs}`],
        ['POST', '/note', { slug: 'theirs', owner: 1 }],
        ['POST', '/note', { slug: 'new', owner: 2 }],
        ['PATCH', `/note/${mine}`, { secret: 's2' }],
        ['PATCH', `/note/${mine}`, { locked: true }],
        ['GET', '/note?where={"nothing":1}'],
      ]
      for (const [method, url, body] of requests) {
        const alone = await send(1, method, url, body)
        const batch = await send(1, 'POST', '/batch', [{ method, url, ...(body && { body }) }])
        assert.ok(alone.status >= 400)
        assert.deepEqual([batch.status, batch.body[0].body], [alone.status, alone.body], `${method} ${url}`)
      }
      const [created, refers] = (
        await send(1, 'POST', '/batch', [
          { method: 'POST', url: '/note', body: { slug: 'new', owner: 1, author: 2, secret: 's9' } },
          { method: 'GET', url: '/note?where={"text":"a"}&select=slug' },
        ])
      ).body
      assert.equal(created.body.secret, null)
      assert.equal(refers.body.length, 2)
      const unreadable = await send(1, 'POST', '/batch', [
        { method: 'POST', url: '/note', body: { slug: 'n2', owner: 1, author: 2, secret: 's8' } },
        { method: 'POST', url: '/note', body: { slug: 'n3', owner: 1, text: { $ref: '0.secret' } } },
      ])
      assert.equal(unreadable.body[1].body.text, null)
    })

    test('a key for repetitions belongs to its requester', async () => {
      const write = (user: number, slug: string) =>
        send(user, 'POST', '/note', { slug, owner: user }, { 'idempotency-key': 'the same' })
      assert.equal((await write(1, 'one')).status, 201)
      assert.equal((await write(2, 'two')).status, 201)
      const again = await write(1, 'one')
      assert.equal(again.headers.get('idempotency-replayed'), 'true')
      assert.equal((await write(2, 'one')).status, 422)
      await records.note.destroyMany({ where: { slug: ['one', 'two'] } })
    })
  })
}
