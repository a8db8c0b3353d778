import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { action, createService, type Service } from '../../src/index.ts'
import type { Json } from '../../src/protocol/json.ts'
import { type DatabaseKind, databases, type TestDatabase } from '../support/databases.ts'

/*
 * Two databases that differ only in what Ben may not read. After Ann and Cid have sent the same request, whose answer may be kept,
 * and with their cursors, entity tags and Idempotency-Keys, Ben receives the same from both.
 */

type User = { readonly id: number; readonly role?: string }
const users: Readonly<Record<string, User>> = { ann: { id: 1, role: 'hr' }, ben: { id: 2 }, cid: { id: 3 } }

const own = ({ user }: { readonly user: User | null }) => user !== null && { owner: user.id }
const models = {
  person: {
    access: {
      read: true,
      create: true,
      update: ({ user }: { readonly user: User | null }) => ({ id: user?.id ?? null }),
    },
    attributes: {
      name: { type: 'string', unique: true },
      email: {
        type: 'string',
        access: { read: ({ user }: { readonly user: User | null }) => ({ id: user?.id ?? null }) },
      },
      salary: { type: 'number', access: { read: 'hr', write: 'hr' } },
      hash: { type: 'string', hidden: true },
      notes: { collection: 'note', via: 'owner' },
    },
  },
  note: {
    access: { read: own, create: own, update: own, destroy: own },
    attributes: { text: { type: 'string' }, owner: { model: 'person' }, about: { model: 'note' } },
    actions: {
      read: action({ on: 'record', access: true, run: ({ record }) => record }),
      total: action({
        on: 'model',
        method: 'GET',
        access: true,
        run: async ({ records }) => (await records.note.find({ populate: ['about'] })).data,
      }),
    },
  },
} as const

/** What one database has and the other has not, apart from values. */
const worlds: readonly { readonly secret: string; readonly salary: number; readonly notes: number }[] = [
  { secret: 'a', salary: 10, notes: 4 },
  { secret: 'z', salary: 99, notes: 7 },
]

/** One of the two databases, and how each user asks its service. */
class World implements AsyncDisposable {
  readonly #database: TestDatabase
  readonly #service: Pick<Service, 'fetch' | 'close'>

  private constructor(database: TestDatabase, service: Pick<Service, 'fetch' | 'close'>) {
    this.#database = database
    this.#service = service
  }

  static async open(kind: DatabaseKind, { secret, salary, notes }: (typeof worlds)[number]): Promise<World> {
    const database = await kind.open()
    const service = await createService({
      auth: { identify: ({ headers }) => users[String(headers.authorization)] ?? null },
      database: database.url,
      models,
      shapes: '/v1/shape',
      clock: { now: () => Date.parse('2026-11-22T00:00:00Z') },
    })
    const { person, note } = service.system.records
    await person.create({ id: 1, name: 'Ann', email: `${secret}@ann`, salary, hash: secret })
    await person.create({ id: 2, name: 'Ben', email: 'ben', salary, hash: secret })
    await person.create({ id: 3, name: 'Cid', email: `${secret}@cid`, salary: 50, hash: 'h' })
    for (let id = 10; id < 10 + notes; id++)
      await note.create({ id, text: `${secret} ${id}`, owner: id % 2 === 0 ? 1 : 3 })
    await note.create({ id: 30, text: 'of Ben', owner: 2, about: 10 })
    await note.create({ id: 31, text: 'of Ben too', owner: 2, about: 30 })
    return new World(database, service)
  }

  async ask(user: string, { method = 'GET', path, body, headers }: Asked) {
    const response = await this.#service.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: { authorization: user, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service.close()
    await this.#database[Symbol.asyncDispose]()
  }
}

interface Asked {
  readonly method?: string
  readonly path: string
  readonly body?: Json
  readonly headers?: Readonly<Record<string, string>>
}

const where = (condition: Json) => `where=${encodeURIComponent(JSON.stringify(condition))}`
const reads: readonly string[] = [
  '/note',
  '/note?sort=text',
  '/note?sort=about.text%20DESC',
  '/note?limit=1',
  '/note?skip=1&limit=1',
  `/note?${where({ about: { text: { startsWith: 'a' } } })}`,
  `/note?${where({ about: { owner: { salary: 10 } } })}`,
  `/note?${where({ owner: { email: { startsWith: 'a' } } })}`,
  `/note?${where({ owner: { notes: { text: { startsWith: 'a' } } } })}`,
  `/note?${where({ about: { '!=': null } })}`,
  '/note?populate=about',
  '/note?populate=about,owner&callback=f',
  '/note/10',
  '/note/16',
  '/note/30',
  '/note/30/about',
  '/note/30?populate=about',
  '/note/total',
  '/note?count=true&limit=1',
  `/note?count=true&limit=1&${where({ about: { text: { startsWith: 'a' } } })}`,
  '/person',
  '/person?populate=notes',
  '/person?sort=email',
  '/person?sort=email%20DESC&limit=1',
  '/person?sort=salary',
  '/person?sort=hash',
  '/person?select=name,email',
  '/person?select=salary',
  '/person?omit=salary',
  '/person?email=a@ann',
  '/person?salary=10',
  `/person?${where({ email: { '>': 'm' } })}`,
  `/person?${where({ not: { email: { '>': 'm' } } })}`,
  `/person?${where({ email: null })}`,
  `/person?${where({ or: [{ salary: { '>': 20 } }, { name: 'Ann' }] })}`,
  `/person?${where({ notes: { text: { contains: 'a' } } })}`,
  `/person?count=true&limit=1&${where({ notes: { id: { '>': 11 } } })}`,
  '/person/1',
  '/person/1?callback=f',
  '/person/1/notes',
  '/person/1/notes?limit=1',
  '/person/1/salary',
  '/v1/shape?table=note&offset=-1',
  '/v1/shape?table=person&offset=-1',
  `/v1/shape?table=person&offset=-1&where=${encodeURIComponent("email > 'm'")}`,
  '/v1/shape?table=person&offset=-1&columns=id,salary',
]
const writes: readonly Asked[] = [
  { method: 'PATCH', path: '/note/10', body: { text: 'x' } },
  { method: 'PATCH', path: '/note/16', body: { text: 'x' } },
  { method: 'PATCH', path: '/note/10', body: { text: 'x' }, headers: { 'if-match': '"x"' } },
  { method: 'PATCH', path: '/note/16', body: { text: 'x' }, headers: { 'if-match': '*' } },
  { method: 'DELETE', path: '/note/10' },
  { method: 'DELETE', path: '/note/16' },
  { method: 'POST', path: '/note/10/read' },
  { method: 'POST', path: '/note/16/read' },
  { method: 'POST', path: '/note/30/read' },
  { method: 'POST', path: '/note', body: { text: 'new', owner: 2, about: 10 } },
  { method: 'POST', path: '/note', body: { text: 'new', owner: 2, about: 16 } },
  { method: 'PUT', path: '/person/1/notes/16' },
  { method: 'PUT', path: '/person/2/notes/16' },
  { method: 'PATCH', path: '/person/2', body: { notes: [10, 16] } },
  { method: 'PATCH', path: '/person/2', body: { salary: 5 } },
  { method: 'PATCH', path: '/person/1', body: { email: 'a@ann' } },
  { method: 'PATCH', path: `/note?${where({ about: { text: { startsWith: 'a' } } })}`, body: { text: 'many' } },
  { method: 'DELETE', path: `/note?${where({ owner: 1 })}` },
  { method: 'POST', path: '/person?upsert=name', body: { name: 'Ann', email: 'x' } },
  { method: 'POST', path: '/person?upsert=salary', body: { name: 'Ann' } },
  { method: 'POST', path: '/person?upsert=hash', body: { name: 'Ann' } },
  {
    method: 'POST',
    path: '/batch',
    body: [
      { method: 'GET', url: '/note' },
      { method: 'GET', url: '/person?sort=email' },
      { method: 'POST', url: '/note', body: { text: 'of a batch', owner: 2, about: { $ref: '0.0.id' } } },
      { method: 'GET', url: '/note/$2.id' },
    ],
  },
  {
    method: 'POST',
    path: '/batch',
    body: [
      { method: 'GET', url: '/person/1' },
      { method: 'POST', url: '/note', body: { text: { $ref: '0.email' }, owner: 2 } },
    ],
  },
  { method: 'POST', path: '/batch', body: [{ method: 'GET', url: '/note/10' }] },
  { method: 'POST', path: '/batch', body: [{ method: 'PATCH', url: '/note/16', body: { text: 'x' } }] },
]

/** What differs between any two services: positions in their logs, times, and what is made with secrets of their own. */
const random = [
  'keelson-position',
  'keelson-operation',
  'electric-handle',
  'electric-offset',
  'electric-cursor',
  'date',
  'etag',
]
const signature = /(cursor=[\w-]+)\.[\w-]+/g
/** In the answer to a batch. */
const tag = /"[\w-]{0,22}-[\w-]{22}\\"/g
const comparable = ({ status, headers, text }: Awaited<ReturnType<World['ask']>>) => ({
  status,
  text: text.replace(tag, '"-"'),
  headers: [...headers]
    .filter(([name]) => !random.includes(name))
    .map(([name, value]) => [name, value.replace(signature, '$1')]),
})

for (const kind of databases) {
  describe(`what Ben may not read, on ${kind.name}`, { skip: kind.missing ?? false }, () => {
    let both: readonly World[]
    before(async () => {
      both = await Promise.all(worlds.map((world) => World.open(kind, world)))
    })
    after(() => Promise.all(both?.map((world) => world[Symbol.asyncDispose]()) ?? []))

    const same = async (asked: (world: World) => Promise<Asked>) => {
      const [one, other] = await Promise.all(
        both.map(async (world) => comparable(await world.ask('ben', await asked(world)))),
      )
      assert.deepEqual(one, other)
      return one as NonNullable<typeof one>
    }

    for (const path of reads) {
      test(`is not in ${decodeURIComponent(path)}`, async () => {
        await same(async (world) => {
          for (const user of ['ann', 'cid', 'ann', 'cid']) await world.ask(user, { path })
          return { path }
        })
        for (const world of both) {
          const ben = await world.ask('ben', { path })
          for (const other of [await world.ask('ann', { path }), await world.ask('cid', { path })]) {
            const headers = { 'if-none-match': other.headers.get('etag') ?? '' }
            if ((await world.ask('ben', { path, headers })).status === 304) assert.equal(ben.text, other.text)
          }
        }
      })
    }

    for (const asked of writes) {
      const { method, path, body, headers } = asked
      test(`is not revealed by ${method} ${decodeURIComponent(path)} ${JSON.stringify([body, headers])}`, async () => {
        await same(async () => asked)
        await same(async () => ({ path: '/note' }))
      })
    }

    test('is not in the stored answer to a write of Ann, which has the same Idempotency-Key', async () => {
      const asked = {
        method: 'PATCH',
        path: '/person/1',
        body: { name: 'Ann' },
        headers: { 'idempotency-key': 'key' },
      }
      for (const world of both) assert.equal((await world.ask('ann', asked)).status, 200)
      assert.equal((await same(async () => asked)).status, 403)
    })

    test('does not change a tag', async () => {
      for (const world of both) {
        const tagOf = async (user: string, path: string) => (await world.ask(user, { path })).headers.get('etag')
        const seen = ['/person/1', '/person/1?populate=false', '/person', '/person/1?select=name']
        const tags = async (user: string) => await Promise.all(seen.map((path) => tagOf(user, path)))
        const [bens, anns] = [await tags('ben'), await tags('ann')]
        const body = { salary: 1_000, email: 'another' }
        assert.equal((await world.ask('ann', { method: 'PATCH', path: '/person/1', body })).status, 200)
        assert.deepEqual(await tags('ben'), bens)
        assert.ok((await tags('ann')).slice(0, 3).every((tag, index) => tag !== anns[index]))
      }
    })

    test('is not in the pages after those of others', async () => {
      for (const path of ['/person?limit=1&sort=email', '/note?limit=1', '/person?limit=1&sort=salary']) {
        await same(async (world) => {
          const link = (await world.ask(path.includes('salary') ? 'ann' : 'cid', { path })).headers.get('link') ?? ''
          const cursor = /[?&]cursor=([^&>]+)/.exec(link)?.[1]
          assert.ok(cursor, path)
          return { path: `${path}&cursor=${cursor}` }
        })
      }
    })
  })
}
