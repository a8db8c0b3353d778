import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from 'keelson'
import { missingPostgres } from '../support/postgres.ts'
import { schemaDatabases } from '../support/schema-databases.ts'

const columns = {
  sqlite: 'id integer primary key, email text collate nocase, n integer',
  postgres: 'id serial primary key, email citext, n integer',
}

const keys = { sqlite: 'text collate nocase', postgres: 'citext' }

for (const { name, missing, open } of schemaDatabases) {
  describe(`a column that ignores letter case on ${name}`, { skip: missing ?? missingPostgres ?? false }, () => {
    test('is compared by the database in live queries and rules; a stream refuses it', async () => {
      await using database = await open()
      if (name === 'postgres') await database.execute('create extension if not exists citext')
      await database.execute(
        `create table person (${columns[name]}); insert into person (email, n) values ('Ann@x.no', 1), ('bob@x.no', 1)`,
      )
      const service = await createService({
        database: database.url,
        attributes: { createdAt: false, updatedAt: false },
        models: {
          person: {
            attributes: { email: { type: 'string' }, n: { type: 'number', isInteger: true } },
            access: { read: ({ user }) => ({ email: `${user?.id}` }) },
          },
        },
        auth: { identify: () => ({ id: 'ANN@X.NO' }) },
      })
      const { person } = service.system.records
      for (const records of [person, service.as({ id: 'ANN@X.NO' }).records.person]) {
        const seen: (number | null)[][] = []
        for await (const { rows } of records.liveQuery({ where: { email: 'ann@x.no' } })) {
          seen.push(rows.map(({ n }) => n))
          if (seen.length === 1) await person.update(1, { n: 2 })
          else if (seen.length === 2) await person.create({ email: 'ANN@x.NO', n: 3 })
          else break
        }
        assert.deepEqual(seen.at(-1)?.slice(0, 1), [2])
        assert.equal(seen.at(-1)?.length, (seen[0]?.length ?? 0) + 1)
        await person.update(1, { n: 1 })
      }
      const stream = await service.fetch(
        new Request('http://localhost/person?email=ann@x.no', { headers: { accept: 'text/event-stream' } }),
      )
      assert.equal(stream.status, 400)
      assert.match(await stream.text(), /cannot compare \\"email\\"/)
      await service.close()
    })

    test('as a key finds a record in any letter case, whose events a stream receives', async () => {
      await using database = await open()
      if (name === 'postgres') await database.execute('create extension if not exists citext')
      await database.execute(
        `create table country (code ${keys[name]} primary key not null, name text); insert into country values ('No', 'Norway')`,
      )
      await using service = await createService({
        database: database.url,
        attributes: { createdAt: false, updatedAt: false },
        models: {
          country: {
            attributes: { code: { type: 'string', primaryKey: true, required: true }, name: { type: 'string' } },
          },
        },
      })
      const { country } = service.system.records
      const events = country.live({ id: 'nO' })
      const next = async () => {
        const { value } = await events.next()
        return value && 'id' in value ? [value.verb, value.id] : value?.verb
      }
      assert.equal(await next(), 'ready')
      await country.update('NO', { name: 'Norge' })
      assert.deepEqual(await next(), ['updated', 'No'])
      await country.destroy('no')
      assert.deepEqual(await next(), ['destroyed', 'No'])
      assert.equal((await events.next()).done, true)
    })

    test('as a reference, a rule through it is not decided by its spelling', async () => {
      await using database = await open()
      if (name === 'postgres') await database.execute('create extension if not exists citext')
      await database.execute(
        `create table country (code ${keys[name]} primary key not null, is_closed boolean);
         create table town (id integer primary key, name text, country ${keys[name]} references country (code));
         insert into country values ('No', false), ('Se', true);
         insert into town values (1, 'Oslo', 'No'), (2, 'Lund', 'SE')`,
      )
      await using service = await createService({
        database: database.url,
        attributes: { createdAt: false, updatedAt: false },
        auth: { identify: () => null },
        models: {
          country: {
            access: { read: true },
            attributes: {
              code: { type: 'string', primaryKey: true, required: true },
              isClosed: { type: 'boolean', columnName: 'is_closed' },
            },
          },
          town: {
            access: { read: () => ({ not: { country: { isClosed: true } } }) },
            attributes: {
              id: { type: 'number', isInteger: true, primaryKey: true, required: true },
              name: { type: 'string' },
              country: { model: 'country' },
            },
          },
        },
      })
      const { town } = service.system.records
      const events = service.as(null).records.town.live()
      const next = async () => (await events.next()).value?.verb
      assert.equal(await next(), 'ready')
      await town.update(1, { name: 'Bergen' })
      assert.equal(await next(), 'updated')
      await town.update(2, { name: 'Malmö' })
      assert.equal(await next(), 'reset')
      await events.return?.(undefined)
    })
  })
}
