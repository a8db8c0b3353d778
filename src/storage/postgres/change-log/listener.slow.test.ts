import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually } from '../../../../test/support/eventually.ts'
import { models, opened } from '../../../../test/support/postgres-changes.ts'
import { withPostgres } from '../../../../test/support/postgres-database.ts'
import { openTestStore, type TestStore } from '../../../../test/support/postgres-store.ts'

describe('the change log: notification', withPostgres, () => {
  const waking = (store: TestStore) => {
    let count = 0
    const registration = store.store.changes.onChange(() => count++)
    return { count: () => count, [Symbol.dispose]: () => registration[Symbol.dispose]() }
  }

  test('after commits of this process, of another Keelson process, and of another program', async () => {
    await using given = await opened()
    const { store, database } = given
    await using other = await openTestStore(database.url, models)
    using woken = waking(other)
    await eventually(async () => (await listeners(database)) > 0 || undefined, 'it listens')
    const since = async (work: () => Promise<unknown>, what: string) => {
      const before = woken.count()
      await work()
      await eventually(() => woken.count() > before || undefined, what)
    }
    await since(() => other.insert('pet', { name: 'own' }), 'our own commit')
    await since(
      () => store.transaction((transaction) => transaction.insert('pet', { name: 'ours' })),
      'a commit of another process',
    )
    await since(() => database.query(`insert into pet (name) values ('strange')`), 'another program writes')
  })

  test('other processes are notified a bounded number of times for many commits', async () => {
    await using given = await opened()
    const { store, database } = given
    const otherProgram = await database.connect()
    await otherProgram.query('listen keelson')
    await Promise.all(Array.from({ length: 300 }, (_, index) => store.insert('pet', { name: `n${index}` })))
    await eventually(() => otherProgram.notifications.length > 0 || undefined, 'a notification arrives')
    assert.ok(otherProgram.notifications.length < 100, `${otherProgram.notifications.length}`)
    assert.equal(new Set(otherProgram.notifications).size, 1, 'one process, one name')
  })

  test('continues after a lost connection, and ends with the last listener', async () => {
    await using given = await opened()
    const { store, database } = given
    {
      using woken = waking(store)
      await eventually(async () => (await listeners(database)) === 1 || undefined, 'it listens')
      await database.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${isListener}`)
      await eventually(async () => (await listeners(database)) === 1 || undefined, 'it listens again')
      const before = woken.count()
      await database.query(`notify keelson, 'other'`)
      await eventually(() => woken.count() > before || undefined, 'it is woken')
    }
    await eventually(async () => (await listeners(database)) === 0 || undefined, 'it has stopped')
  })

  const isListener = `datname = current_database() and query = 'listen keelson'`
  const listeners = async (database: { query(text: string): Promise<(string | null)[][]> }) =>
    (await database.query(`select pid from pg_stat_activity where ${isListener}`)).length
})
