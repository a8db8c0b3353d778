import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { forPostgres } from '../../examples/chinook/for-postgres.ts'
import { models } from '../../examples/chinook/models.ts'
import { createService, type Json, type JsonObject, type ModelDefinitions, type Service } from '../../src/index.ts'
import { describeStep } from '../../src/storage/schema-step.ts'
import { freshDatabase, missingPostgres, postgresForTests } from '../support/postgres.ts'
import { asOtherProgram, changesAfter, newFile } from '../support/sqlite.ts'
import { contentOf } from './chinook/data.ts'
import { type Edition, postgresEdition, schemaOf, sqliteEdition, tables } from './chinook/tables.ts'

/** A Chinook database that existed before the service, and a foreign connection to it. */
interface Shop extends AsyncDisposable {
  readonly url: string
  /** The rows of a query, asked over the foreign connection. */
  ask(text: string): Promise<readonly (readonly unknown[])[]>
}

interface Kind {
  readonly name: string
  readonly edition: Edition
  readonly models: ModelDefinitions
  /** The reason why it is skipped. */
  readonly missing?: string | undefined
  /** The catalog of the database, without the objects of the service. */
  readonly catalog: string
  /** Expected schema steps other than indexes. */
  readonly steps: readonly string[]
  /** Every index ends with the primary key, so an index on the foreign key alone is sufficient. */
  readonly hasKeyInIndexes: boolean
  open(): Promise<Shop>
}

const sqliteShop = (path: string): Shop => {
  const connection = new DatabaseSync(path)
  return {
    url: `sqlite:${path}`,
    ask: async (text) => {
      const statement = connection.prepare(text)
      statement.setReturnArrays(true)
      return statement.all() as unknown as readonly (readonly unknown[])[]
    },
    async [Symbol.asyncDispose]() {
      connection.close()
    },
  }
}

const sqlite = {
  edition: sqliteEdition,
  models,
  catalog: `select sql from sqlite_schema where sql is not null and type in ('table', 'index') and name not like 'keelson%' and name not like '%\\_idx' escape '\\' and name <> 'sqlite_sequence' order by name`,
  steps: [
    'created the change log',
    ...Object.values(models).map(({ tableName }) => `captured changes of ${tableName}`),
    'captured changes of PlaylistTrack',
  ],
  hasKeyInIndexes: true,
}
const postgresCatalog = `
  select table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable from information_schema.columns
    where table_schema = 'public' and table_name not like 'keelson%'
  union all select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
    where connamespace = 'public'::regnamespace and conrelid::regclass::text not like '%keelson%' and contype <> 'n'
  order by 1`

const original = process.env.KEELSON_CHINOOK
const postgres = missingPostgres === undefined ? await postgresForTests() : undefined
after(() => postgres?.stop())

const kinds: readonly Kind[] = [
  {
    ...sqlite,
    name: 'a small copy, on SQLite',
    async open() {
      const path = newFile()
      asOtherProgram(path, schemaOf(sqliteEdition) + contentOf(sqliteEdition))
      return sqliteShop(path)
    },
  },
  {
    ...sqlite,
    name: 'Chinook itself, on SQLite',
    missing: original === undefined ? 'KEELSON_CHINOOK names no file' : undefined,
    async open() {
      const path = newFile()
      copyFileSync(original ?? '', path)
      return sqliteShop(path)
    },
  },
  {
    name: 'a small copy, on PostgreSQL',
    edition: postgresEdition,
    models: forPostgres(models),
    missing: missingPostgres,
    catalog: postgresCatalog,
    hasKeyInIndexes: false,
    steps: [
      'created the change log (public)',
      ...Object.values(forPostgres(models)).map(({ tableName }) => `captured changes of ${tableName}`),
      'captured changes of playlist_track',
    ],
    async open() {
      const database = await freshDatabase(postgres?.url ?? '')
      await database.query(schemaOf(postgresEdition) + contentOf(postgresEdition))
      return {
        url: database.url,
        ask: (text) => database.query(text),
        [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
      }
    },
  },
]

for (const { name, edition, models, missing, catalog, steps, hasKeyInIndexes, open } of kinds) {
  describe(name, { skip: missing ?? false }, () => {
    let shop: Shop
    let service: Service
    let catalogBefore: readonly (readonly unknown[])[]
    const n = edition.name

    before(async () => {
      shop = await open()
      catalogBefore = await shop.ask(catalog)
      const attributes = { createdAt: false, updatedAt: false } as const
      service = (await createService({ database: shop.url, models, attributes, migrate: 'add' })) as Service
    })
    after(async () => {
      await service?.close()
      await shop?.[Symbol.asyncDispose]()
    })

    const ask = async (method: string, path: string, body?: Json) => {
      const headers = { 'content-type': 'application/json' }
      const init = { method, headers, body: body === undefined ? null : JSON.stringify(body) }
      const response = await service.fetch(new Request(`http://localhost${path}`, init))
      return { status: response.status, body: (await response.json()) as JsonObject }
    }
    const get = async (path: string): Promise<readonly JsonObject[]> => {
      const { status, body } = await ask('GET', path)
      assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`)
      return body as unknown as JsonObject[]
    }
    const first = async (path: string): Promise<JsonObject> => {
      const [record] = await get(path)
      assert.ok(record, path)
      return record
    }
    const value = async (text: string): Promise<unknown> => (await shop.ask(text))[0]?.[0]
    const number = async (text: string): Promise<number> => Number(await value(text))
    const nextId = async (table: string): Promise<number> =>
      1 + (await number(`select max(${n(`${table}Id`)}) from ${n(table)}`))

    test('existing objects are unchanged, and each addition is reported', async () => {
      const indexes = tables.flatMap(({ name, key, columns }) =>
        Object.keys(columns)
          .filter((column) => columns[column]?.references && column !== key[0])
          .filter(() => !hasKeyInIndexes || key.length > 1)
          .map(
            (column) =>
              `created index on ${n(name)} (${[column, ...key.filter((part) => part !== column)].map(n).join(', ')})`,
          ),
      )
      assert.deepEqual(service.database.steps.map(describeStep).sort(), [...indexes, ...steps].sort())
      assert.deepEqual(await shop.ask(catalog), catalogBefore)
    })

    test('a second start reports no steps', async () => {
      const attributes = { createdAt: false, updatedAt: false } as const
      await using second = await createService({ database: shop.url, models, attributes })
      assert.deepEqual(second.database.steps, [])
    })

    test('every record of every table is served', async () => {
      for (const [model, { tableName }] of Object.entries(models)) {
        const rows = await number(`select count(*) from ${tableName}`)
        const response = await service.fetch(new Request(`http://localhost/${model}?count=true&limit=1`))
        assert.equal(response.headers.get('x-total-count'), String(rows), model)
        const listed = await get(`/${model}?limit=1000&populate=false`)
        assert.equal(listed.length, Math.min(rows, 1000), model)
      }
    })

    test('strings, numbers and nulls equal the stored ones', async () => {
      const columns = [
        'TrackId',
        'Name',
        'AlbumId',
        'MediaTypeId',
        'GenreId',
        'Composer',
        'Milliseconds',
        'Bytes',
        'UnitPrice',
      ].map(n)
      const rows = await shop.ask(`select ${columns.join(', ')} from ${n('Track')} order by 1 limit 200`)
      const tracks = await get('/track?limit=200&populate=false')
      assert.deepEqual(
        tracks
          .slice(0, rows.length)
          .map((track) => Object.values(track).map((item) => (item === null ? null : String(item)))),
        rows.map((row) => row.map((item) => (item === null ? null : String(item)))),
      )
    })

    test('amounts are compared, sorted and summed as numbers', async () => {
      const dear = await number(`select count(*) from ${n('Invoice')} where ${n('Total')} > 1.98`)
      assert.equal((await get('/invoice?where={"total":{">":1.98}}&limit=1000&populate=false')).length, dear)
      const invoices = await get('/invoice?sort=total DESC&limit=1000&populate=false')
      const totals = invoices.map(({ total }) => total as number)
      assert.deepEqual(
        totals,
        [...totals].sort((a, b) => b - a),
      )
      const sum = await number(`select round(sum(${n('Total')}), 2) from ${n('Invoice')}`)
      assert.equal(Math.round(totals.reduce((a, b) => a + b) * 100) / 100, sum)
    })

    test('times are ISO 8601 in answers, filters and sorting', async () => {
      const invoices = await get('/invoice?sort=invoiceDate&limit=1000&populate=false')
      const times = invoices.map(({ invoiceDate }) => String(invoiceDate))
      for (const time of times) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.deepEqual(times, [...times].sort())
      const day = times[Math.floor(times.length / 2)]?.slice(0, 10)
      const rows = await number(`select count(*) from ${n('Invoice')} where ${n('InvoiceDate')} = '${day} 00:00:00'`)
      assert.ok(rows > 0)
      assert.equal((await get(`/invoice?invoiceDate=${day}&populate=false`)).length, rows)
      const later = await number(`select count(*) from ${n('Invoice')} where ${n('InvoiceDate')} > '${day} 00:00:00'`)
      assert.equal(
        (await get(`/invoice?where={"invoiceDate":{">":"${day}T00:00:00.000Z"}}&limit=1000&populate=false`)).length,
        later,
      )
    })

    test('associations in both directions, and to the same table', async () => {
      const album = await first('/album?limit=1&populate=artist,tracks')
      assert.equal(
        (album.artist as JsonObject).name,
        await value(
          `select ${n('Name')} from ${n('Artist')} where ${n('ArtistId')} = (select ${n('ArtistId')} from ${n('Album')} order by ${n('AlbumId')} limit 1)`,
        ),
      )
      assert.equal(
        (album.tracks as Json[]).length,
        await number(`select count(*) from ${n('Track')} where ${n('AlbumId')} = ${album.id}`),
      )
      const boss = await first('/employee?where={"reportsTo":null}&limit=1&populate=reports')
      assert.equal(
        (boss.reports as Json[]).length,
        await number(`select count(*) from ${n('Employee')} where ${n('ReportsTo')} = ${boss.id}`),
      )
    })

    test('create, update and destroy are logged', async () => {
      const head = await service.changes.head()
      const id = await nextId('Invoice')
      const [customer] = await get('/customer?limit=1&populate=false')
      const created = await ask('POST', '/invoice?populate=false', {
        id,
        customer: customer?.id as number,
        invoiceDate: '2026-11-21T03:04:05.678Z',
        total: 5.94,
      })
      assert.equal(created.status, 201, JSON.stringify(created.body))
      const updated = await ask('PATCH', `/invoice/${id}?populate=false`, {
        total: 0.1 + 0.2,
        invoiceDate: '2026-11-22',
      })
      assert.equal(updated.status, 200, JSON.stringify(updated.body))
      assert.equal(updated.body.invoiceDate, '2026-11-22T00:00:00.000Z')
      assert.equal((await get('/invoice?invoiceDate=2026-11-22&populate=false')).length, 1)
      assert.equal((await ask('DELETE', `/invoice/${id}`)).status, 200)
      const changes = await changesAfter(service.changes, head)
      assert.deepEqual(
        changes.map(({ model, verb, id }) => `${model} ${id} ${verb}`),
        [`invoice ${id} created`, `invoice ${id} updated`, `invoice ${id} destroyed`],
      )
      assert.deepEqual(changes[0]?.after, { ...created.body, customer: customer?.id })
      assert.deepEqual([changes[0]?.after?.total, changes[0]?.after?.invoiceDate], [5.94, '2026-11-21T03:04:05.678Z'])
      assert.deepEqual(changes[1]?.after, changes[2]?.before)
    })

    test('destroy is refused for a required reference, and clears an optional one', async () => {
      const [album] = await get('/album?limit=1&populate=false')
      const refused = await ask('DELETE', `/artist/${album?.artist}`)
      assert.deepEqual([refused.status, refused.body.code], [409, 'E_CONFLICT'])
      const [track] = await get('/track?where={"genre":{"!=":null}}&limit=1&populate=false')
      assert.equal((await ask('DELETE', `/genre/${track?.genre}`)).status, 200)
      assert.equal((await ask('GET', `/track/${track?.id}?populate=false`)).body.genre, null)
      assert.equal(await number(`select count(*) from ${n('Track')} where ${n('GenreId')} = ${track?.genre}`), 0)
    })

    test('playlists and tracks are linked by the junction table', async () => {
      const { table, list, track } = { table: n('PlaylistTrack'), list: n('PlaylistId'), track: n('TrackId') }
      const listId = await number(`select ${list} from ${table} group by ${list} order by count(*), ${list} limit 1`)
      const pairs = () => number(`select count(*) from ${table} where ${list} = ${listId}`)
      const count = await pairs()
      assert.equal((await get(`/playlist/${listId}/tracks?limit=1000`)).length, count)
      const trackId = await number(
        `select min(${track}) from ${n('Track')} where ${track} not in (select ${track} from ${table} where ${list} = ${listId})`,
      )
      const head = await service.changes.head()
      assert.equal((await ask('PUT', `/playlist/${listId}/tracks/${trackId}`)).status, 200)
      assert.equal(await pairs(), count + 1)
      assert.equal((await ask('DELETE', `/playlist/${listId}/tracks/${trackId}`)).status, 200)
      assert.equal(await pairs(), count)
      assert.equal((await ask('DELETE', `/playlist/${listId}`)).status, 200)
      assert.equal(await pairs(), 0)
      const changes = await changesAfter(service.changes, head)
      assert.deepEqual(
        changes.slice(0, 2).map(({ verb, id }) => [verb, id]),
        [
          ['created', [listId, trackId]],
          ['destroyed', [listId, trackId]],
        ],
      )
      assert.equal(changes.length, 2 + count + 1)
    })

    test('writes by another program are logged', async () => {
      const head = await service.changes.head()
      const id = await nextId('Track')
      const format = await number(`select min(${n('MediaTypeId')}) from ${n('MediaType')}`)
      const columns = ['TrackId', 'Name', 'MediaTypeId', 'Milliseconds', 'UnitPrice'].map(n).join(', ')
      await shop.ask(`insert into ${n('Track')} (${columns}) values (${id}, 'From elsewhere', ${format}, 1000, 12.5)`)
      const [created] = await changesAfter(service.changes, head)
      assert.deepEqual(
        [created?.model, created?.id, created?.after?.unitPrice, created?.after?.bytes],
        ['track', id, 12.5, null],
      )
      assert.equal((await ask('GET', `/track/${id}`)).body.unitPrice, 12.5)
      await shop.ask(`delete from ${n('Track')} where ${n('TrackId')} = ${id}`)
    })
  })
}

test('on SQLite, keys of new records are auto-incremented', async () => {
  const path = newFile()
  asOtherProgram(path, schemaOf(sqliteEdition))
  await using service = await createService({
    database: `sqlite:${path}`,
    models,
    attributes: { createdAt: false, updatedAt: false },
  })
  assert.deepEqual(await service.system.records.artist.create({ name: 'One' }), { id: 1, name: 'One' })
  assert.deepEqual(await service.system.records.artist.create({}), { id: 2, name: null })
})
