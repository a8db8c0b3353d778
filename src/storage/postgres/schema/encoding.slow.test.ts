import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from 'keelson'
import { connected } from '../../../../test/support/postgres.ts'
import { emptyDatabase, withPostgres } from '../../../../test/support/postgres-database.ts'

describe('a database without an encoding', withPostgres, () => {
  test('is served with a warning, and a text that is no UTF-8 gets 503 and is reported', async () => {
    await using outer = await emptyDatabase()
    const url = new URL(outer.url)
    url.pathname += '_ascii'
    const name = url.pathname.slice(1)
    await outer.query(`create database ${name} encoding 'SQL_ASCII' template template0 lc_collate 'C' lc_ctype 'C'`)
    try {
      await using database = await connected(url.href)
      await database.query(`create table pet (id int primary key, name text)`)
      await database.query(`insert into pet values (1, 'Zoë'), (2, E'caf\\xe9')`)
      const errors: unknown[] = []
      const models = { pet: { attributes: { name: { type: 'string' } } } } as const
      const attributes = { createdAt: false, updatedAt: false } as const
      const onError = (error: unknown) => errors.push(error)
      await using service = await createService({ database: url.href, migrate: 'safe', attributes, models, onError })
      assert.deepEqual(
        service.warnings.filter((warning) => warning.includes('SQL_ASCII')),
        [
          'The database has the encoding SQL_ASCII, which accepts any bytes: requests that read a text that is no UTF-8 get 503, and a change of one ends all events',
        ],
      )
      const read = async (path: string) => (await service.fetch(new Request(`http://localhost${path}`))).status
      assert.deepEqual([await read('/pet/1'), await read('/pet/2'), await read('/pet')], [200, 503, 503])
      assert.match(String(errors[0]), /refuses an operation of pet \(invalid byte sequence for encoding "UTF8"/)
      assert.equal(errors.length, 1)
    } finally {
      await outer.query(`drop database ${name} with (force)`)
    }
  })
})
