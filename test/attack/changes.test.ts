import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService, type HttpServer, type Service } from '../../src/index.ts'
import type { Json, JsonObject } from '../../src/protocol/json.ts'
import { databases, type TestDatabase } from '../support/databases.ts'
import { StreamClient } from '../support/event-stream.ts'
import { LiveTestClient } from '../support/live-client.ts'

/*
 * The changes of the past: streams, live queries and shapes that continue from a position that was guessed, made up or
 * given to another client. Each gets what it may read, or begins anew, and nothing that is hidden.
 */

const models = {
  note: {
    attributes: {
      text: { type: 'string' },
      secret: { type: 'string', hidden: true },
      mood: { type: 'string', access: { read: false } },
      by: { type: 'string' },
    },
    access: {
      read: ({ user }: { user: { id: string } | null }) => ({ by: user?.id ?? 'nobody' }),
      create: true,
      update: true,
      destroy: true,
    },
  },
} as const

/** The position of the service in a form that is wrong. */
const positions: readonly (readonly [what: string, position: (known: string) => string])[] = [
  ['a number', () => '0'],
  ['a negative number', () => '-1'],
  ['a number of 300 digits', () => '9'.repeat(300)],
  ['a text of 8,000 characters', () => 'a'.repeat(8_000)],
  ['points', () => '.'.repeat(100)],
  ['a name of prototypes', () => '__proto__'],
  ['SQL', () => `0' or 1=1 --`],
  ['JSON', () => '{"seq":0}'],
  ['a snapshot of PostgreSQL', () => '1:9999999999:'],
  ['one of another history', (known) => `x${known}`],
  ['one without its last part', (known) => known.slice(0, known.lastIndexOf('.'))],
  ['one with more behind it', (known) => `${known}1`],
  ['one that is to come', (known) => known.replace(/\.(\w+)/, '.zzzzzz')],
]

const cookie = (name: string) => ({ cookie: `sid=${name}` })
const encoded = (value: Json): string => BigInt(`0x${Buffer.from(JSON.stringify(value)).toString('hex')}`).toString()

for (const database of databases.filter(({ name }) => name !== 'memory')) {
  describe(`changes on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Service
    let server: HttpServer
    /** Before anything was written. */
    let beginning: string
    const reported: unknown[] = []

    const send = async (method: string, path: string, body?: Json, user = 'ann') => {
      const response = await fetch(server.url + path, {
        method,
        headers: { 'Content-Type': 'application/json', ...cookie(user) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text }
    }

    before(async () => {
      opened = await database.open()
      service = (await createService({
        models,
        database: opened.url,
        shapes: '/v1/shape',
        auth: {
          identify: ({ cookies }: { cookies: Record<string, string> }) =>
            cookies.sid === undefined ? null : { id: cookies.sid },
        },
        onError: (error: unknown) => reported.push(error),
      } as never)) as never
      server = await service.listen(0)
      beginning = await service.changes.head()
      await service.system.records.note?.create({ text: 'of Ann', secret: 'classified', by: 'ann' } as never)
      await service.system.records.note?.update(1, { text: 'of Ann, changed', secret: 'classified, too' } as never)
      await service.system.records.note?.create({ text: 'of Ben', secret: 'classified', by: 'ben' } as never)
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
      assert.deepEqual(reported, [])
    })

    const resume = (position: string, user: string) =>
      StreamClient.open(server.port, '/note', { headers: { 'last-event-id': position, ...cookie(user) } })

    describe('a stream begins anew for', () => {
      for (const [what, position] of positions) {
        test(what, async () => {
          const stream = await resume(position(beginning), 'ann')
          assert.equal(stream.status, 200)
          assert.equal((await stream.next()).event, 'reset')
          assert.doesNotMatch(stream.body, /of Ann|of Ben|classified/)
          await stream.close()
        })
      }
    })

    test('a stream that continues from the position of another user has what it may read, and nothing hidden', async () => {
      for (const [user, own, other] of [
        ['ann', 'of Ann, changed', 'of Ben'],
        ['ben', 'of Ben', 'of Ann'],
        ['nobody', undefined, 'of '],
      ] as const) {
        const stream = await resume(beginning, user)
        const marker = (await service.system.records.note?.create({ text: 'last', by: user } as never)) as JsonObject
        while (!stream.body.includes(`"id":${marker.id},`)) await stream.next()
        if (own !== undefined) assert.ok(stream.body.includes(own))
        assert.ok(!stream.body.includes(other), stream.body)
        assert.doesNotMatch(stream.body, /classified|secret/)
        await stream.close()
      }
    })

    describe('a live query is given its rows anew for', () => {
      for (const [what, position] of positions) {
        test(what, async () => {
          const held = { model: 'note', sort: 'id', after: position(beginning), ids: [1, 2, 3] }
          await using client = await LiveTestClient.open(server.url, { notes: held }, cookie('ben'))
          await client.until(() => client.frames.some(({ event }) => event === 'rows' || event === 'reset'))
          await client.until(() => client.rows('notes') !== undefined)
          assert.ok(client.rows('notes')?.every(({ by }) => by === 'ben'))
          assert.doesNotMatch(JSON.stringify(client.frames), /of Ann|classified/)
        })
      }
    })

    describe('a live query is refused with', () => {
      for (const [what, query] of [
        ['keys that are no list', { after: 'x', ids: { length: 1e9 } }],
        ['more keys than a page has', { after: 'x', ids: Array.from({ length: 1_001 }, (_, id) => id) }],
        ['keys that are objects', { after: 'x', ids: [{ '>': 0 }] }],
        ['keys without a position', { ids: [1] }],
        ['a position that is no text', { after: { toString: 'x' }, ids: [1] }],
        ['a limit of 1e9', { limit: 1e9 }],
        ['a skip of 1e12', { skip: 1e12 }],
        ['a hidden attribute to sort by', { sort: 'secret' }],
        ['a hidden attribute to select', { select: ['secret'] }],
        ['an attribute that it may not read to sort by', { sort: 'mood' }],
        ['an attribute that it may not read in a condition', { where: { mood: 'x' } }],
        ['an option that is not there', { explain: true }],
        ['an option of prototypes', JSON.parse('{"__proto__":{"limit":1}}') as JsonObject],
        ['a model of prototypes', { model: '__proto__' }],
        ['a table of the service', { model: 'keelson_log' }],
      ] as const) {
        test(what, async () => {
          const { status, text } = await send('POST', '/live', { queries: { q: { model: 'note', ...query } } } as never)
          assert.equal(status, 400, text)
        })
      }
    })

    describe('a shape is refused with', () => {
      const offset = (value: Json) => `table=note&handle=x&offset=${encoded(value)}`
      for (const [what, query, status] of [
        ['a table of the service', 'table=keelson_log&offset=-1', 400],
        ['a table of the database', 'table=sqlite_schema&offset=-1', 400],
        ['a model of prototypes', 'table=__proto__&offset=-1', 400],
        ['a hidden column', 'table=note&columns=id,secret&offset=-1', 400],
        ['SQL as a column', 'table=note&columns=id,(select%20secret)&offset=-1', 400],
        ['SQL as a condition', `table=note&where=secret%20like%20'c%25'&offset=-1`, 400],
        ['a position without a handle', `table=note&offset=${encoded({ position: 'x' })}`, 400],
        ['a position of 2,001 digits', `table=note&handle=x&offset=${'9'.repeat(2_001)}`, 400],
        ['a position that is no position', offset({ position: { toString: 'x' } }), 400],
        ['a negative position', 'table=note&handle=x&offset=-2', 400],
        ['a position of another handle', offset({ position: '0' }), 409],
        ['a cursor that was made up', offset({ position: '0', cursor: 'WzFd' }), 409],
        ['a parameter that is not there', 'table=note&offset=-1&subset__where=1=1', 400],
      ] as const) {
        test(what, async () => {
          const { status: actual, text } = await send('GET', `/v1/shape?${query}`)
          assert.equal(actual, status, text)
          assert.doesNotMatch(text, /of Ann|of Ben|classified|syntax error/)
        })
      }

      for (const [what, position] of positions) {
        test(`${what} as the position of its own handle`, async () => {
          const { headers } = await send('GET', '/v1/shape?table=note&offset=-1')
          const handle = headers.get('electric-handle')
          for (const cursor of [{}, { cursor: 'WzFd' }]) {
            const forged = encoded({ position: position(beginning), ...cursor } as Json)
            const { status, text } = await send('GET', `/v1/shape?table=note&handle=${handle}&offset=${forged}`)
            assert.ok([400, 409, 414].includes(status), `${status} ${text}`)
            assert.doesNotMatch(text, /of Ann|of Ben|classified/)
          }
        })
      }
    })

    test('a shape of another user has other rows, also by its handle', async () => {
      const first = await send('GET', '/v1/shape?table=note&offset=-1&replica=full')
      assert.match(first.text, /of Ann/)
      const [handle, offset] = ['electric-handle', 'electric-offset'].map((name) => first.headers.get(name))
      const others = [
        await send('GET', '/v1/shape?table=note&offset=-1&replica=full', undefined, 'ben'),
        await send('GET', `/v1/shape?table=note&handle=${handle}&offset=${offset}`, undefined, 'ben'),
        await send(
          'GET',
          `/v1/shape?table=note&handle=${handle}&offset=${encoded({ position: beginning })}`,
          undefined,
          'ben',
        ),
      ]
      for (const { text } of others) assert.doesNotMatch(text, /of Ann|classified|secret/)
      assert.doesNotMatch(first.text, /Ben|classified|secret/)
    })
  })
}
