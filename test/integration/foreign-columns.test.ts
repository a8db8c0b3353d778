import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { LiveTestClient } from '../support/live-client.ts'
import { missingPostgres } from '../support/postgres.ts'
import { schemaDatabases } from '../support/schema-databases.ts'

/* Columns that other programs have made, and values that they have stored. */

const attributes = { createdAt: false, updatedAt: false } as const

for (const { name, missing, open } of schemaDatabases) {
  describe(`columns of other programs on ${name}`, { skip: missing ?? false }, () => {
    test('JSON with line breaks is one event of a live query', { timeout: 60_000 }, async () => {
      await using database = await open()
      const type = name === 'sqlite' ? 'text' : 'json'
      await database.execute(`create table owner (id integer primary key, name text)`)
      await database.execute(`create table pet (id integer primary key, owner integer references owner, info ${type})`)
      await database.execute(`insert into pet (id, info) values (1, '{\n  "a": 1,\r\n\n  "b": "x\\ny"\r}')`)
      const service = await createService({
        database: database.url,
        attributes,
        models: {
          owner: { attributes: { name: { type: 'string' } } },
          pet: { attributes: { owner: { model: 'owner' }, info: { type: 'json' } } },
        },
      })
      const { url } = await service.listen(0)
      const queries = { local: { model: 'pet' }, populated: { model: 'pet', populate: ['owner'] } }
      const client = await LiveTestClient.open(url, queries)
      await client.until(() => client.held.size === 2)
      const rex = { id: 1, owner: null, info: { a: 1, b: 'x\ny' } }
      assert.deepEqual([client.rows('local'), client.rows('populated')], [[rex], [rex]])
      await service.close()
    })

    if (name === 'postgres')
      test('a sort by a type that has no comparisons is refused, and one by another type continues on each page', async () => {
        await using database = await open()
        await database.execute(`create extension hstore; create domain tags as hstore;
          create table pet (id integer primary key, tags tags, path jsonpath, kind regclass, code "char", name varchar(9), feet int4range);
          insert into pet values (1, 'a=>1', '$.a', 'pg_class', 'b', 'Tom', '[2,3)'), (2, 'b=>1', '$.b', 'pg_type', 'a', 'Rex', '[10,12)')`)
        const text = { type: 'string' } as const
        const names = ['tags', 'path', 'kind', 'code', 'name', 'feet']
        await using service = await createService({
          database: database.url,
          attributes,
          models: { pet: { attributes: Object.fromEntries(names.map((name) => [name, text])) } },
        })
        const get = (path: string) => service.fetch(new Request(`http://localhost${path}`))
        for (const name of ['tags', 'path']) {
          const answer = await get(`/pet?sort=${name}`)
          const { detail } = (await answer.json()) as JsonObject
          assert.deepEqual(
            [answer.status, detail],
            [400, `Cannot sort by "${name}": the database has no comparisons for the type of its column`],
          )
        }
        for (const [name, ids] of Object.entries({ kind: [2, 1], code: [2, 1], name: [2, 1], feet: [1, 2] })) {
          const first = await get(`/pet?sort=${name}&limit=1&select=id`)
          const [, next] = /<(.*)>; rel="next"/.exec(first.headers.get('link') ?? '') ?? []
          const second = await get(String(next))
          assert.deepEqual(
            [...((await first.json()) as []), ...((await second.json()) as [])],
            ids.map((id) => ({ id })),
            name,
          )
        }
      })

    test('JSON is found by equality, in any form; a column of another type refuses it where the database cannot tell', async () => {
      await using database = await open()
      await database.execute(
        `create table pet (id integer primary key, info ${name === 'sqlite' ? 'text' : 'json'}, note text)`,
      )
      await database.execute(`insert into pet values (1, '{ "b": 1.0,\n "a": [] }', '{"a":1}'), (2, '"x"', 'plain')`)
      const service = await createService({
        database: database.url,
        attributes,
        models: { pet: { attributes: { info: { type: 'json' }, note: { type: 'json' } } } },
      })
      const found = async (query: string) => {
        const response = await service.fetch(new Request(`http://localhost/pet?select=id&${query}`))
        return response.ok ? ((await response.json()) as { id: number }[]).map(({ id }) => id) : response.status
      }
      assert.deepEqual(await found('info={"a":[],"b":1}'), [1])
      assert.deepEqual(await found('info=x'), [2])
      assert.deepEqual(await found('note={"a":1}'), name === 'sqlite' ? [1] : 400)
      assert.deepEqual(await found('note=plain'), name === 'sqlite' ? [2] : 400)
      assert.deepEqual(await found('where={"note":{"!=":null}}'), [1, 2])
      await service.close()
    })

    test('a JSON null is found as the null that it is answered as, also by live queries', {
      timeout: 10_000,
    }, async () => {
      await using database = await open()
      const type = name === 'sqlite' ? 'text' : 'jsonb'
      await database.execute(`create table pet (id integer primary key, info ${type}, note text)`)
      await database.execute(
        `insert into pet values (1, 'null', 'null'), (2, null, null), (3, '"null"', '[]'), (4, '0', '"x"')`,
      )
      await using service = await createService({
        database: database.url,
        attributes,
        models: { pet: { attributes: { info: { type: 'json' }, note: { type: 'json' } } } },
      })
      const { pet } = service.system.records
      const idsOf = (records: readonly { id: number }[]) => records.map(({ id }) => id)
      for (const attribute of ['info', 'note']) {
        assert.deepEqual(idsOf((await pet.find({ where: { [attribute]: null } })).data), [1, 2])
        assert.deepEqual(idsOf((await pet.find({ where: { [attribute]: { '!=': null } } })).data), [3, 4])
        assert.deepEqual(idsOf((await pet.find({ where: { not: { [attribute]: null } } })).data), [3, 4])
      }
      let runs = 0
      for await (const { rows } of pet.liveQuery({ where: { info: null } })) {
        if (++runs === 1) await database.execute(`update pet set info = 'null' where id = 4`)
        else assert.deepEqual(idsOf(rows), idsOf((await pet.find({ where: { info: null } })).data))
        if (runs === 2) break
      }
    })

    test('a column of dates is written as one', async () => {
      await using database = await open()
      await database.execute('create table pet (id integer primary key, born date unique)')
      await database.execute(`insert into pet values (1, '2020-01-02')`)
      const service = await createService({
        database: database.url,
        attributes,
        models: {
          pet: {
            attributes: { id: { type: 'number', required: true }, born: { type: 'datetime', columnType: 'date' } },
          },
        },
      })
      const { pet } = service.system.records
      await assert.rejects(pet.create({ id: 2, born: '2020-01-02T00:00:00.000Z' }), { code: 'E_INVALID_ATTRIBUTES' })
      const born = '2021-03-04T00:00:00.000Z'
      assert.deepEqual(await pet.create({ id: 2, born: '2021-03-04T10:20:30.000Z' }), { id: 2, born })
      await assert.rejects(pet.update(1, { born }), { code: 'E_INVALID_ATTRIBUTES' })
      for (const where of [{ born }, { born: [born] }, { born: { '>=': born } }])
        assert.deepEqual((await pet.find({ where })).data, [{ id: 2, born }])
      assert.deepEqual((await pet.find({ where: { born: '2021-03-04T10:20:30.000Z' } })).data, [])
      await service.close()
    })
  })
}

const postgres = schemaDatabases.find(({ name }) => name === 'postgres')

describe('columns of PostgreSQL', { skip: missingPostgres ?? false }, () => {
  test('texts are searched exactly where the collation ignores letter case', async () => {
    await using database = (await postgres?.open()) ?? assert.fail()
    await database.execute(
      `create collation ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
       create table pet (id integer primary key, name text collate ci); insert into pet values (1, 'Rex'), (2, 'rex')`,
    )
    const models = { pet: { attributes: { name: { type: 'string' } } } } as const
    const service = await createService({ database: database.url, attributes, models })
    const { pet } = service.system.records
    for (const where of [
      { contains: 'Re' },
      { startsWith: 'Re' },
      { endsWith: 'Rex' },
      { like: 'Re%' },
      { like: 'R_x' },
    ]) {
      const { data } = await pet.find({ where: { name: where } })
      assert.deepEqual(
        data.map(({ id }) => id),
        [1],
        JSON.stringify(where),
      )
    }
    await service.close()
  })

  test('a record whose key is always generated can be updated with nothing', async () => {
    await using database = (await postgres?.open()) ?? assert.fail()
    await database.execute(
      'create table pet (id bigint generated always as identity primary key, twice text generated always as (name || name) stored, name text)',
    )
    await database.execute(`insert into pet (name) values ('Rex')`)
    const text = { type: 'string' } as const
    const models = { pet: { attributes: { twice: { ...text, readOnly: true }, name: text } } } as const
    const service = await createService({ database: database.url, attributes, models })
    const init = { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: '{}' }
    const response = await service.fetch(new Request('http://localhost/pet/1', init))
    assert.deepEqual([response.status, ((await response.json()) as JsonObject).name], [200, 'Rex'])
    await service.close()
  })
})

test('texts in a column of bytes on SQLite are answered, found and sent back as their bytes', async () => {
  const [{ open }] = schemaDatabases
  await using database = await open()
  await database.execute(`create table owner (id integer primary key, name text);
    create table page (id integer primary key, title blob, owner integer references owner);
    insert into owner values (1, 'Ann'); insert into page values (1, 'Main', 1), (2, x'4d61696e', 1), (3, 'Größe', null), (4, null, null)`)
  const service = await createService({
    database: database.url,
    attributes,
    models: {
      owner: { attributes: { name: { type: 'string' }, pages: { collection: 'page', via: 'owner' } } },
      page: { attributes: { title: { type: 'binary' }, owner: { model: 'owner' } } },
    },
  })
  const { owner, page } = service.system.records
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const titles = (pages: readonly { title: unknown }[]) => pages.map(({ title }) => title)
  const all = [base64('Main'), base64('Main'), base64('Größe'), null]
  assert.deepEqual(titles((await page.find()).data), all)
  const response = await service.fetch(new Request('http://localhost/page?populate=false'))
  assert.deepEqual(titles((await response.json()) as { title: unknown }[]), all)
  assert.deepEqual(titles((await owner.findOne(1, { populate: ['pages'] }))?.pages ?? []), all.slice(0, 2))
  for (const title of [base64('Main'), base64('Größe')])
    assert.equal(await page.count({ where: { title } }), all.filter((each) => each === title).length)
  await page.update(1, { title: base64('Main') })
  assert.equal(await page.count({ where: { title: base64('Main') } }), 2)
  await using events = page.live({ id: 3 })
  for await (const event of events) {
    if (event.verb === 'ready') await database.execute(`update page set owner = 1 where id = 3`)
    if (event.verb !== 'updated') continue
    assert.equal(event.previous.title, base64('Größe'))
    break
  }
  await service.close()
})

test('JSONB of SQLite is answered, found, in events and live queries as JSON, and other bytes as their digits', async () => {
  await using database = await schemaDatabases[0].open()
  await database.execute(`create table owner (id integer primary key);
    create table pet (id integer primary key, owner int references owner, info jsonb);
    insert into owner values (1);
    insert into pet values (1, 1, jsonb('{"a":[1,"é"]}')), (2, 1, '{"a":2}'), (3, 1, x'fffe'), (4, 1, jsonb('null'))`)
  await using service = await createService({
    database: database.url,
    attributes,
    models: {
      owner: { attributes: { pets: { collection: 'pet', via: 'owner' } } },
      pet: { attributes: { owner: { model: 'owner' }, info: { type: 'json' } } },
    },
  })
  const { owner, pet } = service.system.records
  const found = (await pet.find({ sort: 'id' })).data.map(({ info }) => info)
  assert.deepEqual(found, [{ a: [1, 'é'] }, { a: 2 }, 'FFFE', null])
  assert.deepEqual((await pet.findOne(1))?.info, found[0])
  const pets = (await owner.findOne(1, { populate: ['pets'] }))?.pets ?? []
  assert.deepEqual(
    pets.map(({ info }) => info),
    found,
  )
  assert.deepEqual(
    (await pet.find({ where: { info: '{"a":[1,"é"]}' } as never })).data.map(({ id }) => id),
    [1],
  )
  const { url } = await service.listen(0)
  assert.deepEqual(
    ((await (await fetch(`${url}/pet?sort=id&populate=false`)).json()) as JsonObject[]).map(({ info }) => info),
    found,
  )

  const client = await LiveTestClient.open(url, { all: { model: 'pet' } })
  await client.until(() => client.held.size === 1)
  await using events = pet.live({ id: 1 })
  for await (const event of events) {
    if (event.verb === 'ready') await database.execute(`update pet set info = jsonb('{"b":{"c":true}}') where id = 1`)
    if (event.verb !== 'updated') continue
    assert.deepEqual([event.data.info, event.previous.info], [{ b: { c: true } }, found[0]])
    break
  }
  await client.until(() => JSON.stringify(client.rows('all')?.[0]).includes('"b"'))
  assert.deepEqual(client.rows('all')?.[0], { id: 1, owner: 1, info: { b: { c: true } } })
  await pet.update(1, { owner: null })
  assert.deepEqual((await pet.findOne(1))?.info, { b: { c: true } })
})

test('a foreign key that is not enforced is checked by the service', { skip: missingPostgres ?? false }, async (t) => {
  const [, { open }] = schemaDatabases
  await using database = await open()
  await database.execute(
    'create table owner (id serial primary key); create table pet (id serial primary key, owner int)',
  )
  try {
    await database.execute('alter table pet add foreign key (owner) references owner not enforced')
  } catch {
    return t.skip('the server is older than PostgreSQL 18')
  }
  await using service = await createService({
    database: database.url,
    attributes: { createdAt: false, updatedAt: false },
    models: { owner: {}, pet: { attributes: { owner: { model: 'owner' } } } },
  })
  const { owner, pet } = service.system.records
  await assert.rejects(pet.create({ owner: 9 }), /names no existing owner with the id 9/)
  const { id } = await owner.create({})
  assert.equal((await pet.create({ owner: id })).owner, id)
})
