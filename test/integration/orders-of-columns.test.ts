import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService } from 'keelson'
import { missingPostgres } from '../support/postgres.ts'
import { schemaDatabases } from '../support/schema-databases.ts'

const postgres = schemaDatabases.find(({ name }) => name === 'postgres')
const text = { type: 'string' } as const

const open = (database: string) =>
  createService({
    database,
    attributes: { createdAt: false, updatedAt: false },
    models: {
      task: {
        attributes: {
          id: { type: 'number', isInteger: true, primaryKey: true, required: true },
          name: text,
          plain: text,
          mood: text,
          price: text,
          stay: text,
          tags: text,
          owner: text,
          due: text,
          at: { type: 'datetime' },
          local: { type: 'datetime', columnType: 'timestamp' },
          cut: { type: 'datetime' },
        },
        access: { read: ({ user: asked }) => (asked ? { mood: { '>': `${asked.id}` } } : true) },
      },
    },
    auth: { identify: (): { id: string } | null => null },
  })

describe('a column whose order is not that of code points on postgres', { skip: missingPostgres ?? false }, () => {
  let database: Awaited<ReturnType<NonNullable<typeof postgres>['open']>>
  let service: Awaited<ReturnType<typeof open>>
  before(async () => {
    database = await (postgres as NonNullable<typeof postgres>).open()
    await database.execute(
      `create type mood as enum ('sad', 'ok', 'Happy');
       create domain instant as timestamp;
       create table task (id integer primary key, name text collate "de-x-icu", plain text collate "C", mood mood, price money,
         stay interval, tags text[], owner uuid, due date, at timestamptz, local instant, cut timestamptz(3))`,
    )
    service = await open(database.url)
  })
  after(async () => {
    await service.close()
    await database[Symbol.asyncDispose]()
  })

  // By code points, "B" comes before "a".
  const add = (id: number, values: string) =>
    database.execute(`insert into task (id, name, plain, mood, price, stay, tags) values (${id}, ${values})`)

  for (const { what, query, ids } of [
    { what: 'texts of a locale', query: { where: { name: { '>': 'b' } } }, ids: [1] },
    { what: 'words of an enumeration', query: { where: { mood: { '>': 'ok' } } }, ids: [1] },
    { what: 'another spelling of an amount', query: { where: { price: '5' } }, ids: [1] },
    { what: 'another spelling of an array', query: { where: { tags: { in: ['{a, b}'] } } }, ids: [1] },
    { what: 'an order by texts of a locale', query: { sort: 'name' }, ids: [2, 3, 1] },
    { what: 'an order by an enumeration', query: { sort: 'mood' }, ids: [3, 2, 1] },
    { what: 'an order by an interval', query: { sort: 'stay' }, ids: [1, 2, 3] },
  ]) {
    test(`a live query with ${what} is that of the database`, { timeout: 10_000 }, async () => {
      await database.execute('delete from task')
      const seen: number[][] = []
      for await (const { rows } of service.system.records.task.liveQuery(query as never)) {
        seen.push(rows.map(({ id }) => id))
        if (seen.length === 1) {
          await add(3, `'b', 'b', 'sad', 6, '10 days', '{}'`)
          await add(2, `'a', 'a', 'ok', 6, '9 days', '{}'`)
          await add(1, `'B', 'B', 'Happy', 5, '1 hour', '{a,b}'`)
        }
        if (rows.some(({ id }) => id === 1)) break
      }
      assert.deepEqual(seen.at(-1), ids)
    })
  }

  const at = '2026-11-28T09:00:00.000Z'
  for (const { what, query, ids } of [
    { what: 'after a time', query: { where: { at: { '>': at } } }, ids: [2, 3] },
    { what: 'until a time', query: { where: { local: { '<=': at } } }, ids: [1] },
    { what: 'at a time', query: { where: { local: at } }, ids: [1] },
    { what: 'not at a time', query: { where: { at: { nin: [at] } } }, ids: [2, 3] },
    { what: 'since a time', query: { where: { at: { '>=': at } } }, ids: [1, 2, 3] },
    { what: 'in the order of times', query: { sort: 'at DESC' }, ids: [2, 3, 1] },
    { what: 'in the order of cut times', query: { sort: 'cut DESC' }, ids: [1, 2, 3] },
  ]) {
    test(`a live query of records ${what} compares the microseconds`, { timeout: 10_000 }, async () => {
      await database.execute('delete from task')
      let last: readonly number[] = []
      for await (const { rows } of service.system.records.task.liveQuery(query as never)) {
        last = rows.map(({ id }) => id)
        if (rows.length > 0) break
        const time = (fraction: string) => `'2026-11-28 09:00:00.${fraction}+00'`
        const row = (id: number, fraction: string) => `(${id}, ${time(fraction)}, ${time(fraction)}, ${time(fraction)})`
        await database.execute(
          `insert into task (id, at, local, cut) values ${row(1, '0')}, ${row(2, '0003')}, ${row(3, '0002')}`,
        )
      }
      assert.deepEqual(last, ids)
    })
  }

  for (const { query, status } of [
    { query: `at[>]=${at}`, status: 400 },
    { query: `local=${at}`, status: 400 },
    { query: `at[>=]=${at}&at[<]=${at}`, status: 200 },
    { query: `cut[>]=${at}`, status: 200 },
    { query: 'where={"at":null}', status: 200 },
    { query: 'name[>]=b', status: 400 },
    { query: 'mood[<=]=ok', status: 400 },
    { query: 'price=5', status: 400 },
    { query: 'stay[!=]=1 day', status: 400 },
    { query: 'name=b', status: 200 },
    { query: 'plain[>]=b', status: 200 },
    { query: 'mood=ok', status: 200 },
    { query: 'tags[contains]=a', status: 200 },
    { query: 'owner=0a3f7a52-2b1d-4f39-9c3e-5f0e0b0d6a11', status: 200 },
    { query: 'due=2026-11-28', status: 200 },
    { query: 'where={"price":null}', status: 200 },
  ]) {
    test(`a stream with ${query} is answered with ${status}`, async () => {
      const headers = { accept: 'text/event-stream' }
      const response = await service.fetch(new Request(`http://localhost/task?${query}`, { headers }))
      assert.equal(response.status, status)
      if (status === 400) assert.match(await response.text(), /rules of its column; a live query can/)
      else await response.body?.cancel()
    })
  }

  test('a rule with such an order decides which events a user receives', { timeout: 10_000 }, async () => {
    await database.execute('delete from task')
    const events = service.as({ id: 'sad' }).records.task.live()
    const next = async () => {
      const { value } = await events.next()
      return value && 'id' in value ? [value.verb, value.id] : value?.verb
    }
    assert.equal(await next(), 'ready')
    await add(3, `'b', 'b', 'sad', 6, '10 days', '{}'`)
    await add(1, `'B', 'B', 'Happy', 5, '1 hour', '{a,b}'`)
    assert.deepEqual(await next(), ['created', 1])
    await events.return?.(undefined)
  })
})

describe('a column without a type on sqlite', () => {
  const untyped = async () => {
    const database = await (
      schemaDatabases.find(({ name }) => name === 'sqlite') as (typeof schemaDatabases)[number]
    ).open()
    await database.execute(
      `create table item (id integer primary key, code); insert into item values (1, '5'), (2, 'x')`,
    )
    const models = { item: { attributes: { code: text } } }
    const attributes = { createdAt: false, updatedAt: false } as const
    const service = await createService({ database: database.url, attributes, models })
    return { database, service }
  }

  for (const { query, ids } of [
    { query: { where: { code: '10' } }, ids: [4] },
    { query: { where: { code: { '>': '1' } } }, ids: [1, 2, 4] },
    { query: { sort: 'code' }, ids: [3, 4, 1, 2] },
  ])
    test(`a live query with ${JSON.stringify(query)} is that of the database`, { timeout: 10_000 }, async () => {
      const { database, service } = await untyped()
      const { item } = service.system.records
      let last: number[] = []
      for await (const { rows } of item.liveQuery(query as never)) {
        last = rows.map(({ id }) => id)
        if (last.includes(4)) break
        await database.execute(`insert into item values (3, 10), (4, '10') on conflict do nothing`)
      }
      assert.deepEqual(last, ids)
      const { data } = await item.find(query as never)
      assert.deepEqual(
        data.map(({ id }) => id),
        ids,
      )
      await service.close()
      await database[Symbol.asyncDispose]()
    })
})
