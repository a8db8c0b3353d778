import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
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
      const { url } = await service.listen(0)
      sql.exec(`insert into thing (name, size) values ${rows}`)
      const page = async (path: string) => {
        const response = await fetch(new URL(path, url))
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
    })
  }
})
