import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from 'keelson'
import { emptyDatabase, withPostgres } from '../../../../test/support/postgres-database.ts'

const rows = `select i, repeat('x', 100) from generate_series(1, 20000) i`

const models = {
  pet: { attributes: { name: { type: 'string' } } },
  visit: { attributes: { name: { type: 'string' } } },
} as const
const attributes = { createdAt: false, updatedAt: false } as const

describe('tables of which PostgreSQL has no statistics', withPostgres, () => {
  for (const { title, statements, warnings } of [
    {
      title: 'are named with what analyzes them',
      statements: [`insert into pet ${rows}`, `insert into visit ${rows}`, 'analyze pet'],
      warnings: [
        'PostgreSQL has no statistics of "visit", and queries may take a hundred times as long as with them: analyze "visit"',
      ],
    },
    { title: 'are not named when they are small', statements: [`insert into pet values (1, 'x')`], warnings: [] },
    {
      title: 'are named where autovacuum analyzes their partitions only',
      statements: [
        'drop table pet',
        'create table pet (id int primary key, name text) partition by range (id)',
        'create table first_pets partition of pet for values from (0) to (15000)',
        'create table other_pets partition of pet default',
        `insert into pet ${rows}`,
        'analyze first_pets',
      ],
      warnings: [
        'PostgreSQL has no statistics of "pet", and queries may take a hundred times as long as with them: analyze "pet"',
      ],
    },
  ])
    test(title, async () => {
      await using database = await emptyDatabase()
      const other = await database.connect()
      for (const table of ['pet', 'visit'])
        await other.query(`create table ${table} (id int primary key, name text) with (autovacuum_enabled = false)`)
      for (const statement of statements) await other.query(statement)
      const service = await createService({
        database: database.url,
        migrate: 'safe',
        attributes,
        models,
      })
      assert.deepEqual(
        service.warnings.filter((warning) => warning.includes('statistics')),
        warnings,
      )
      await service.close()
    })

  test('are not waited for while another program has locked them', { timeout: 30_000 }, async () => {
    await using database = await emptyDatabase()
    const config = { database: database.url, migrate: 'safe', attributes, models } as const
    for (const table of ['pet', 'visit'])
      await database.query(`create table ${table} (id int primary key, name text) with (autovacuum_enabled = false)`)
    await database.query(`insert into visit ${rows}`)
    await (await createService(config)).close()
    await database.query('begin')
    await database.query('lock table pet in access exclusive mode')
    const service = await createService(config)
    assert.match(String(service.warnings), /no statistics of "visit"/)
    await service.close()
  })

  test('are not named to a role that may not read the views of statistics', async () => {
    await using database = await emptyDatabase()
    const role = `unread_${process.pid}`
    await database.query(`create role ${role} login password '${role}'`)
    try {
      await database.query(`revoke select on pg_stats from public`)
      await database.query(`grant create on schema public to ${role}`)
      await database.query(`grant create on database ${new URL(database.url).pathname.slice(1)} to ${role}`)
      const url = new URL(database.url)
      url.username = url.password = role
      await using service = await createService({ database: url.href, migrate: 'add', attributes, models })
      assert.deepEqual(service.warnings, [])
    } finally {
      await database.query(`drop owned by ${role}`)
      await database.query(`drop role ${role}`)
    }
  })
})
