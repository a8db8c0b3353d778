import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { opened } from '../../../../test/support/postgres-changes.ts'
import { withPostgres } from '../../../../test/support/postgres-database.ts'
import { summarize } from '../../../../test/support/postgres-store.ts'

describe('the change log: what a change holds', withPostgres, () => {
  test('operation, origin, and values in the form of the API', async () => {
    await using given = await opened()
    const { store } = given
    const head = await store.head()
    const values = {
      name: 'Žofie "Žo" \\ {},🐕',
      big: '9007199254740993',
      data: 'AP8QXA==',
      seen: '2026-11-21T03:04:05.060Z',
      weight: 0.1,
      extra: { list: [1, null, 'x'], deep: { '': true } },
      good: false,
    }
    const made = await store.insert('pet', values, 'peer-1')
    await store.update('pet', 1, { good: true, weight: null })
    await store.remove('pet', 1, 'peer-2')
    const [created, updated, destroyed] = await store.changesAfter(head)
    const record = { id: 1, owner: null, ...values }
    assert.deepEqual(made, record)
    assert.deepEqual(created?.after, record)
    assert.equal(created?.before, undefined)
    assert.deepEqual(updated?.before, record)
    assert.deepEqual(updated?.after, { ...record, good: true, weight: null })
    assert.deepEqual(destroyed?.before, { ...record, good: true, weight: null })
    assert.equal(destroyed?.after, undefined)
    assert.deepEqual([created?.origin, updated?.origin, destroyed?.origin], ['peer-1', undefined, 'peer-2'])
    assert.match(created?.at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test('an origin applies to one transaction only', async () => {
    await using given = await opened()
    const { store } = given
    const head = await store.head()
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        index % 3 === 0
          ? store.transaction((transaction) => transaction.insert('pet', { name: `p${index}` }), `p${index}`)
          : store.insert('pet', { name: `p${index}` }, index % 3 === 1 ? `p${index}` : undefined),
      ),
    )
    const changes = await store.changesAfter(head)
    assert.equal(changes.length, 60)
    for (const { after, origin } of changes) {
      const name = after?.name as string
      assert.equal(origin, Number(name.slice(1)) % 3 === 2 ? undefined : name)
    }
  })

  test('session settings of the writer do not change images', async () => {
    await using given = await opened()
    const { store, database } = given
    const otherProgram = await database.connect()
    const settings = [
      `set timezone = 'Asia/Kathmandu'`,
      `set datestyle = 'German, DMY'`,
      `set bytea_output = 'escape'`,
      'set extra_float_digits = -15',
      'set search_path = pg_temp',
    ]
    for (const setting of settings) await otherProgram.query(setting)
    const head = await store.head()
    await otherProgram.query(
      `insert into public.pet (name, seen, data, weight) values ('x', '2026-07-01 12:00:00.5+02', '\\x00ff10', 0.1234567890123)`,
    )
    const [{ after } = {}] = await store.changesAfter(head)
    assert.deepEqual(after, await store.one('pet', 1))
    assert.equal(after?.seen, '2026-07-01T10:00:00.500Z')
    assert.equal(after?.data, 'AP8Q')
    assert.equal(after?.weight, 0.1234567890123)
  })

  test('a changed key is destroyed and created', async () => {
    await using given = await opened()
    const { store, database } = given
    await store.insert('pet', { name: 'Rex' })
    const head = await store.head()
    await database.query('update pet set id = 9')
    const changes = await store.changesAfter(head)
    assert.deepEqual(summarize(changes), ['pet 1 destroyed', 'pet 9 created'])
    assert.equal(changes[0]?.after, undefined)
    assert.equal(changes[1]?.before, undefined)
  })

  test('a junction row has both keys, in key order', async () => {
    await using given = await opened()
    const { store, database } = given
    await store.insert('pet', { name: 'Rex' })
    await database.query('insert into tag (id) values (7)')
    const head = await store.head()
    const [junction] = [...store.models.values()].filter(({ isJunction }) => isJunction)
    const columns = junction?.key.map(({ column }) => column) ?? []
    const keys = columns.map((column) => (column.startsWith('pet') ? 1 : 7))
    await database.query(`insert into ${junction?.table} (${columns}) values (${keys})`)
    const changes = await store.changesAfter(head)
    assert.deepEqual(summarize(changes), [`${junction?.name} ${JSON.stringify(keys)} created`])
  })

  test('cascades of the database are captured', async () => {
    await using given = await opened()
    const { store, database } = given
    await store.insert('owner', { name: 'Ann' })
    await store.insert('pet', { name: 'Rex', owner: 1 })
    const head = await store.head()
    await database.query('delete from owner')
    const changes = await store.changesAfter(head)
    assert.deepEqual(summarize(changes).toSorted(), ['owner 1 destroyed', 'pet 1 updated'])
    assert.equal(new Set(changes.map(({ operation }) => operation)).size, 1)
  })
})
