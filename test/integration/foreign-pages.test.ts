import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { createService, type Service } from '../../src/index.ts'
import { schemaDatabases } from '../support/schema-databases.ts'
import { newFile } from '../support/sqlite.ts'

/** Values of types that SQLite lets other programs store in any column. */
const rows = `('a', 1), (x'00ff', 9e999), ('b', -9e999), (x'41', 9e999), (null, 1e3), ('c', 9007199254740993), (x'4142', 9223372036854775807)`

/** Numbers beside texts, as in a column that is declared without a type. */
const mixedRows = `('a', 1), ('12', 2), (12, 3), (9223372036854775807, 4), (2.5, 5), (-9223372036854775808, 6), (null, 7), (x'41', 8)`

const cases = [
  { stored: 'bytes and infinite numbers', rows, sorts: ['name', 'name DESC', 'size', 'size DESC'] },
  { stored: 'numbers in a column without a type', rows: mixedRows, sorts: ['name', 'name DESC'], declared: '' },
].flatMap(({ sorts, ...rest }) => sorts.map((sort) => ({ sort, ...rest })))

describe('pages of one record after another contain what one page contains', () => {
  for (const { sort, stored, rows, declared = 'text' } of cases) {
    test(`by ${sort}, where other programs have stored ${stored}`, async () => {
      const path = newFile()
      using sql = new DatabaseSync(path)
      sql.exec(`create table thing (id integer primary key, name ${declared}, size real)`)
      await using service = await createService({
        database: `sqlite:${path}`,
        models: { thing: { attributes: { name: { type: 'string' }, size: { type: 'number' } } } },
        attributes: { createdAt: false, updatedAt: false },
      })
      sql.exec(`insert into thing (name, size) values ${rows}`)
      await assertPages(service, sort)
    })
  }

  const [, { missing, open }] = schemaDatabases
  for (const sort of ['pair', 'pair DESC', 'named', 'named DESC']) {
    test(`by ${sort}, a composite type of PostgreSQL of which fields are null`, {
      skip: missing ?? false,
    }, async () => {
      await using database = await open()
      await database.execute(`create type pair as (a int, b text); create domain named_pair as pair;
        create table thing (id serial primary key, pair pair, named named_pair);
        insert into thing (pair, named) select p, p from unnest('{"(1,x)","(,)",NULL,"(,z)","(2,)"}'::pair[]) p`)
      await using service = await createService({
        database: database.url,
        migrate: 'safe',
        models: { thing: { attributes: { pair: { type: 'string' }, named: { type: 'string' } } } },
        attributes: { createdAt: false, updatedAt: false },
      })
      await assertPages(service, sort)
    })
  }
})

async function assertPages({ fetch }: Pick<Service, 'fetch'>, sort: string): Promise<void> {
  const page = async (path: string) => {
    const response = await fetch(new Request(new URL(path, 'http://localhost')))
    assert.equal(response.status, 200)
    const records = (await response.json()) as { id: number }[]
    return { ids: records.map(({ id }) => id), next: /<([^>]*)>/.exec(response.headers.get('link') ?? '')?.[1] }
  }
  const ids: number[] = []
  for (let next: string | undefined = `/thing?limit=1&sort=${sort}`; next !== undefined; ) {
    assert.ok(ids.length < 20, 'the pages do not end')
    const found = await page(next)
    ids.push(...found.ids)
    next = found.next
  }
  assert.deepEqual(ids, (await page(`/thing?sort=${sort}`)).ids)
}
