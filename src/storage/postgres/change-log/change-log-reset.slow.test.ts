import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startPostgres } from '../../../../test/support/embedded-postgres.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { freshDatabase } from '../../../../test/support/postgres.ts'
import { models, names, opened } from '../../../../test/support/postgres-changes.ts'
import { withPostgres } from '../../../../test/support/postgres-database.ts'
import { openTestStore } from '../../../../test/support/postgres-store.ts'

describe('the change log: reset', withPostgres, () => {
  test('for positions that were never returned', async () => {
    await using given = await opened()
    const { store } = given
    const head = await store.head()
    const [history = '', snapshot = ''] = head.split('.')
    const [xmin = 0n, xmax = 0n] = snapshot.split(':').filter(Boolean).map(BigInt)
    const strange = [
      '',
      '.',
      'none',
      history,
      `${history}.`,
      `${history}.1:2`,
      `${history}.1`,
      `${history}.1:2:3:4`,
      `${history}.x:y:`,
      `${history}.5:1:`,
      `${history}.${xmin}:${xmax + 1000n}:`,
      `0${history}.${snapshot}`,
      `${history}.${snapshot}~${snapshot}`,
      `${history}.${snapshot}~${snapshot}~x`,
      `${history}.${snapshot}~1:1:~1`,
      `${history}.${snapshot}~${snapshot}~1~1`,
      `${history}.${xmin}:${xmax}:${xmax}`,
      `${history}.1:99999999999999999999:`,
      `${history}.${snapshot}'; drop table pet; --`,
      `${history}.${'9'.repeat(200_000)}`,
      `${history}.-1:5:`,
    ]
    for (const position of strange) assert.equal(await store.read(position), 'reset', position.slice(0, 80))
    assert.notEqual(await store.read(head), 'reset')
  })

  test('after a truncate', async () => {
    await using given = await opened()
    const { store, database } = given
    await store.insert('pet', { name: 'Rex' })
    const head = await store.head()
    await database.query('truncate pet cascade')
    assert.equal(await store.read(head), 'reset')
    assert.equal(await store.read(head, 1), 'reset')
    assert.deepEqual(await store.changesAfter(await store.head()), [])
  })

  test('for an operation above the row limit', async () => {
    await using given = await opened()
    const { store, database } = given
    const head = await store.head()
    await store.insert('pet', { name: 'before' })
    await database.query(`insert into owner (name) select 'n' from generate_series(1, 50001)`)
    assert.equal(await store.read(head), 'reset')
    assert.deepEqual(await store.changesAfter(await store.head()), [])
  })

  test('after a dump was restored in the same database, as pg_restore --clean does', async () => {
    await using given = await opened()
    const { store, database } = given
    await store.insert('pet', { name: 'Rex' })
    await database.query('create table dumped as select * from keelson_meta')
    const dumped = await store.head()
    await store.insert('pet', { name: 'Max' })
    const later = await store.head()
    assert.notEqual(await store.read(later), 'reset')
    await database.query(`alter table pet disable trigger user`)
    await database.query(`delete from pet where name = 'Max'`)
    await database.query(`alter table pet enable trigger user`)
    await database.query('delete from keelson_meta')
    await database.query('insert into keelson_meta select * from dumped')
    assert.equal(await store.read(later), 'reset')
    assert.equal(await store.read(dumped), 'reset')
    const renewed = await store.store.changes.renewed?.(dumped)
    assert.notEqual(await store.read(renewed ?? ''), 'reset', 'jobs continue where the dump was')
  })

  test('when the address of a running service leads to a copy on another server, of other transaction numbers', async () => {
    await using given = await opened()
    const { store, database } = given
    await store.insert('pet', { name: 'Rex' })
    const head = await store.head()
    await database.query(`update keelson_log set tx = (tx::text::bigint + 1000000)::text::xid8`)
    await database.query(`update keelson_meta set value = '1.1' where name = 'identity'`)
    await database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    )
    assert.equal(await eventually(() => store.read(head).catch(() => undefined), 'it is connected again'), 'reset')
    const restarted = await store.head()
    await store.insert('pet', { name: 'Max' })
    assert.deepEqual(names(await store.changesAfter(restarted)), ['Max'])
  })

  test('after a captured column was dropped, while writes succeed', async () => {
    await using given = await opened()
    const { store, database } = given
    await database.query('alter table pet rename column weight to mass')
    const head = await store.head()
    await database.query(`insert into pet (name, mass) values ('Rex', 3)`)
    assert.equal(await store.read(head), 'reset')
  })
})

describe('a crashed server', withPostgres, () => {
  test('reuses transaction numbers, so earlier positions are reset', async (t) => {
    const own = await startPostgres().catch((error: Error) => error)
    if (own instanceof Error) return t.skip(own.message)
    try {
      await using database = await freshDatabase(own.url)
      await using store = await openTestStore(database.url, models)
      await store.insert('owner', { name: 'before' })
      const otherProgram = await database.connect()
      const backend = (await otherProgram.query('select pg_backend_pid()'))[0]?.[0]
      // Each takes a number and comes to nothing. What was not written to disk by then, the server never knew.
      for (let index = 0; index < 50; index++) await assert.rejects(database.query('insert into owner (id) values (1)'))
      const head = await store.head()
      process.kill(Number(backend), 'SIGKILL')
      const historyOf = (position: string) => position.split('.')[0]
      await eventually(
        () =>
          store.head().then(
            (now) => historyOf(now) !== historyOf(head) || undefined,
            () => undefined,
          ),
        'it is back, with another history',
      )
      await store.insert('owner', { name: 'after' })
      assert.equal(await store.read(head), 'reset')
      assert.deepEqual(names(await store.changesAfter(await store.store.changes.tail())), ['before', 'after'])
    } finally {
      own.stop()
    }
  })
})
