import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startPostgres } from '../../../../test/support/embedded-postgres.ts'
import {
  freshDatabase,
  missingPostgres,
  postgresForTests,
  type TestPostgres,
} from '../../../../test/support/postgres.ts'
import { eventually, openTestStore, summarize, type TestStore } from '../../../../test/support/postgres-store.ts'
import { unreliableNetwork } from '../../../../test/support/unreliable-network.ts'
import type { Change } from '../../../protocol/change.ts'

const models = {
  owner: { attributes: { name: { type: 'string' } } },
  pet: {
    attributes: {
      name: { type: 'string' },
      owner: { model: 'owner' },
      tags: { collection: 'tag', via: 'pets' },
      big: { type: 'bigint' },
      data: { type: 'ref', columnType: 'bytea' },
      seen: { type: 'datetime' },
      weight: { type: 'number' },
      extra: { type: 'json' },
      good: { type: 'boolean' },
    },
  },
  tag: { attributes: { pets: { collection: 'pet', via: 'tags' } } },
} as const

const day = 86_400_000
const keepAll = { ageMs: day, rows: 1_000_000 }
const names = (changes: readonly Change[]) => changes.map(({ after }) => after?.name)

describe('the change log', { skip: missingPostgres ?? false }, async () => {
  const server: TestPostgres | undefined = missingPostgres ? undefined : await postgresForTests()
  after(() => server?.stop())

  const opened = async () => {
    const database = await freshDatabase(server?.url as string)
    const store = await openTestStore(database.url, models)
    return {
      database,
      store,
      async [Symbol.asyncDispose]() {
        await store[Symbol.asyncDispose]()
        await database[Symbol.asyncDispose]()
      },
    }
  }

  test('what the models of a reader do not include is not sent to it', async () => {
    await using database = await freshDatabase(server?.url as string)
    await using network = await unreliableNetwork(database.url)
    await using store = await openTestStore(network.url, models)
    const { changes } = store.store
    const head = await store.head()
    await store.insert('owner', { name: 'x'.repeat(1_000_000) })
    await store.insert('pet', { name: 'first' })
    await store.changesAfter(head)
    const before = network.receivedBytes
    for (const limit of [1, 500]) {
      const batch = await changes.read(head, limit, (model) => model === 'pet')
      assert.deepEqual(batch !== 'reset' && names(batch.changes), ['first'])
    }
    assert.ok(network.receivedBytes - before < 100_000, `${network.receivedBytes - before} bytes`)
  })

  test('of large changes fewer are read at once', async () => {
    await using given = await opened()
    const { changes } = given.store.store
    const head = await given.store.head()
    for (let index = 0; index < 40; index++)
      await given.store.insert('owner', { name: `${index}${'x'.repeat(1_000_000)}` })
    const sizes: number[] = []
    const read: Change[] = []
    for (let position = head; ; ) {
      const batch = await changes.read(position, 500)
      assert.ok(batch !== 'reset')
      if (batch.changes.length === 0) break
      sizes.push(batch.changes.length)
      read.push(...batch.changes)
      position = batch.position
    }
    assert.deepEqual(
      read.map(({ after }) => Number.parseInt(after?.name as string, 10)),
      Array.from({ length: 40 }, (_, index) => index),
    )
    assert.ok(Math.max(...sizes) <= 16, `${sizes}`)
  })

  test('what is wanted since the log was asked is asked for again', async () => {
    await using database = await freshDatabase(server?.url as string)
    await using store = await openTestStore(database.url, models)
    const { changes } = store.store
    const head = await store.head()
    await store.insert('owner', { name: 'Ann' })
    await store.insert('pet', { name: 'Rex' })
    await store.changesAfter(head)
    for (const limit of [1, 500]) {
      let wanted: readonly string[] = ['pet']
      const reading = changes.read(head, limit, (model) => wanted.includes(model))
      wanted = ['pet', 'owner']
      const batch = await reading
      assert.ok(batch !== 'reset')
      assert.deepEqual(names(batch.changes), ['Ann', 'Rex'].slice(0, limit))
    }
  })

  describe('order', () => {
    test('two transactions change one row: the changes come in the order of the writes, not of the beginnings', async () => {
      await using given = await opened()
      const { store, database } = given
      await store.insert('pet', { name: 'first' })
      await store.insert('pet', { name: 'other' })
      const head = await store.head()

      const open = await database.connect()
      await open.query('begin')
      await open.query(`insert into tag default values`) // has a number, and stays open
      const early = await database.connect()
      await early.query('begin')
      await early.query(`update pet set name = 'early, elsewhere' where id = 2`)
      const late = await database.connect()
      await late.query(`update pet set name = 'late' where id = 1`)
      const between = await store.read(head)
      assert.ok(between !== 'reset')
      await early.query(`update pet set name = 'early' where id = 1`)
      await early.query('commit')

      const all = await store.changesAfter(head)
      assert.deepEqual(names(all.filter(({ id }) => id === 1)), ['late', 'early'])
      assert.deepEqual(names(between.changes), ['late'], 'nothing waits for the one that is still open')
      const rest = await store.changesAfter(between.position)
      assert.deepEqual(names(rest), ['early, elsewhere', 'early'])
      await open.query('commit')
      const last = await store.changesAfter(between.position)
      assert.deepEqual(summarize(last).toSorted(), ['pet 1 updated', 'pet 2 updated', 'tag 1 created'])
    })

    test('the rows of one operation come together, after those of an operation that ended meanwhile', async () => {
      await using given = await opened()
      const { store, database } = given
      const head = await store.head()
      const outer = await database.connect()
      await outer.query('begin')
      await outer.query(`insert into pet (name) values ('outer 1')`)
      await database.query(`insert into pet (name) values ('inner')`)
      await outer.query(`insert into pet (name) values ('outer 2')`)
      await outer.query('commit')
      const changes = await store.changesAfter(head)
      assert.deepEqual(names(changes), ['inner', 'outer 1', 'outer 2'])
      assert.equal(new Set(changes.map(({ operation }) => operation)).size, 2)
      // Resumed behind the first, the whole of the second follows.
      assert.deepEqual(names(await store.changesAfter(changes[0]?.position as string)), ['outer 1', 'outer 2'])
    })

    test('a rolled back change is never read', async () => {
      await using given = await opened()
      const { store, database } = given
      const head = await store.head()
      await database.query('begin')
      await database.query(`insert into pet (name) values ('no')`)
      await database.query('rollback')
      await assert.rejects(
        store.transaction(async (transaction) => {
          await transaction.insert('pet', { name: 'no' })
          throw new Error('changed my mind')
        }),
        /changed my mind/,
      )
      await store.insert('pet', { name: 'yes' })
      assert.deepEqual(names(await store.changesAfter(head)), ['yes'])
    })

    test('an idle transaction in another database delays no change', async () => {
      await using given = await opened()
      const { store } = given
      await using elsewhere = await freshDatabase(server?.url as string)
      const idle = await elsewhere.connect()
      await idle.query('begin')
      await idle.query('create table t ()')
      const head = await store.head()
      await store.insert('pet', { name: 'Rex' })
      const batch = await store.read(head)
      assert.ok(batch !== 'reset')
      assert.deepEqual(names(batch.changes), ['Rex'])
      assert.deepEqual(names(await store.changesAfter(batch.position)), [], 'not read twice')
      await idle.query('rollback')
      assert.deepEqual(names(await store.changesAfter(batch.position)), [])
    })
  })

  describe('what a change holds', () => {
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

  describe('batches', () => {
    for (const limit of [1, 2, 3, 7, 100]) {
      test(`of about ${limit} are whole operations without gaps or repetitions`, async () => {
        await using given = await opened()
        const { store, database } = given
        const head = await store.head()
        for (let index = 0; index < 10; index++) {
          await database.query(`insert into pet (name) select 'n' || i from generate_series(1, ${1 + (index % 4)}) i`)
        }
        const long = await database.connect()
        await long.query('begin')
        await long.query(`insert into owner (name) values ('long')`)
        const operations: string[] = []
        let position = head
        for (let turn = 0; ; turn++) {
          // Others go on writing while the backlog is read.
          if (turn === 2) await database.query(`insert into pet (name) values ('later')`)
          if (turn === 3) await long.query('commit')
          const batch = await store.read(position, limit)
          assert.ok(batch !== 'reset')
          if (batch.changes.length === 0 && turn > 4) break
          const inBatch = [...Map.groupBy(batch.changes, ({ operation }) => operation)]
          for (const [operation, changes] of inBatch) {
            assert.ok(!operations.includes(operation), 'an operation was split, or came twice')
            assert.ok(
              batch.changes.indexOf(changes.at(-1) as Change) - batch.changes.indexOf(changes[0] as Change) ===
                changes.length - 1,
            )
            operations.push(operation)
          }
          assert.ok(batch.changes.length <= limit + 3)
          position = batch.position
        }
        assert.equal(operations.length, 12)
        assert.equal(new Set(summarize(await store.changesAfter(head, limit))).size, 23 + 2)
      })
    }

    test('reading resumes from every position', async () => {
      await using given = await opened()
      const { store, database } = given
      const head = await store.head()
      for (let index = 1; index <= 6; index++) await database.query(`insert into pet (name) values ('n${index}')`)
      for (const limit of [2, 100]) {
        const changes = await store.changesAfter(head, limit)
        for (const [index, { position }] of changes.entries()) {
          assert.deepEqual(names(await store.changesAfter(position)), names(changes.slice(index + 1)))
        }
      }
    })

    test('a position inside a batch is valid in another process, and later', async () => {
      await using given = await opened()
      const { store, database } = given
      const head = await store.head()
      const long = await database.connect()
      await long.query('begin')
      await long.query(`insert into pet (name) values ('long')`)
      for (let index = 1; index <= 6; index++) await database.query(`insert into pet (name) values ('n${index}')`)
      const first = await store.read(head, 2)
      assert.ok(first !== 'reset')
      await long.query(`insert into pet (name) values ('long, still')`)
      await long.query('commit')
      await database.query(`insert into pet (name) values ('last')`)
      await using other = await openTestStore(database.url, models)
      const rest = ['n3', 'n4', 'n5', 'n6']
      for (const limit of [1, 2, 100]) {
        assert.deepEqual(names(await other.changesAfter(first.position, limit)), [
          ...rest,
          'long',
          'long, still',
          'last',
        ])
      }
    })

    test('changes of models of another process are skipped, and later ones are read', async () => {
      await using given = await opened()
      const { store, database } = given
      await using narrow = await openTestStore(database.url, { owner: models.owner })
      const head = await narrow.head()
      for (let index = 1; index <= 6; index++) await store.insert('pet', { name: `n${index}` })
      await store.insert('owner', { name: 'Ann' })
      for (let index = 1; index <= 6; index++) await store.insert('pet', { name: `n${index}` })
      for (const limit of [1, 2, 6, 100]) {
        assert.deepEqual(summarize(await narrow.changesAfter(head, limit)), ['owner 1 created'], `about ${limit}`)
      }
    })

    test('a snapshot includes what it shows, and nothing else', async () => {
      await using given = await opened()
      const { store, database } = given
      const head = await store.head()
      const open = await database.connect()
      await open.query('begin')
      await open.query(`insert into pet (name) values ('open')`)
      await store.insert('pet', { name: 'before' })
      const { value, position } = await store.store.snapshot((reads) =>
        reads.count(store.model('pet'), { kind: 'and', conditions: [] }),
      )
      await store.insert('pet', { name: 'after' })
      await open.query('commit')
      assert.equal(value, 1)
      const changes = await store.changesAfter(head)
      const covered = changes.filter((change) => store.store.changes.includes(position, change))
      assert.deepEqual(names(covered), ['before'])
      assert.deepEqual(names(await store.changesAfter(position)), ['open', 'after'].toSorted(byPlace(changes)))
    })
  })

  describe('reset', () => {
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

    test('after a captured column was dropped, while writes succeed', async () => {
      await using given = await opened()
      const { store, database } = given
      await database.query('alter table pet rename column weight to mass')
      const head = await store.head()
      await database.query(`insert into pet (name, mass) values ('Rex', 3)`)
      assert.equal(await store.read(head), 'reset')
    })
  })

  describe('trimming', () => {
    test('deletes older changes and resets only positions before them', async () => {
      await using given = await opened()
      const { store, database } = given
      const before = await store.head()
      await store.insert('pet', { name: 'old' })
      const between = await eventually(async () => {
        await store.store.changes.trim(keepAll)
        const head = await store.head()
        await database.query(`update keelson_horizon set at = at - interval '2 days'`)
        await store.store.changes.trim(keepAll)
        const [[left] = []] = await database.query('select count(*) from keelson_log')
        return left === '0' ? head : undefined
      }, 'it is gone, as soon as no other test has a transaction open that is older')
      assert.equal(await store.read(before), 'reset')
      assert.deepEqual(await store.changesAfter(between), [])
      await store.insert('pet', { name: 'new' })
      assert.deepEqual(names(await store.changesAfter(between)), ['new'])
      assert.deepEqual(names(await store.changesAfter(await store.store.changes.tail())), ['new'])
    })

    test('keeps recent changes', async () => {
      await using given = await opened()
      const { store } = given
      const head = await store.head()
      await store.insert('pet', { name: 'young' })
      await store.store.changes.trim(keepAll)
      await store.store.changes.trim(keepAll)
      assert.deepEqual(names(await store.changesAfter(head)), ['young'])
      assert.deepEqual(names(await store.changesAfter(await store.store.changes.tail())), ['young'])
    })

    test('by age counts from visibility: a long transaction is recent when it ends', async () => {
      await using given = await opened()
      const { store, database } = given
      const long = await database.connect()
      await long.query('begin')
      await long.query(`insert into pet (name) values ('long')`)
      await store.store.changes.trim(keepAll)
      const head = await store.head()
      await store.insert('pet', { name: 'other' })
      await long.query('commit')
      await database.query(`update keelson_log set at = at - interval '2 days'`)
      await database.query(`update keelson_horizon set at = at - interval '2 days'`)
      await store.store.changes.trim(keepAll)
      assert.deepEqual(names(await store.changesAfter(head)).toSorted(), ['long', 'other'])
    })

    test('by number of rows, in whole operations', async () => {
      await using given = await opened()
      const { store, database } = given
      const head = await store.head()
      for (let index = 1; index <= 5; index++) {
        await database.query(`insert into pet (name) values ('a${index}'), ('b${index}')`)
      }
      const kept = (rows: number) =>
        eventually(async () => {
          await store.store.changes.trim({ ...keepAll, rows })
          const [[count] = []] = await database.query('select count(*) from keelson_log')
          return Number(count) <= rows || undefined
        }, `${rows} rows are left`)
      await kept(5)
      assert.equal(await store.read(head), 'reset')
      assert.deepEqual(names(await store.changesAfter(await store.store.changes.tail())), ['a4', 'b4', 'a5', 'b5'])
      await kept(0)
      assert.deepEqual(await store.changesAfter(await store.store.changes.tail()), [])
    })

    test('by number of rows keeps unfinished transactions', async () => {
      await using given = await opened()
      const { store, database } = given
      const long = await database.connect()
      await long.query('begin')
      await long.query(`insert into pet (name) values ('long')`)
      await store.insert('pet', { name: 'other' })
      await store.store.changes.trim({ ...keepAll, rows: 0 })
      const head = await store.head()
      await long.query('commit')
      assert.deepEqual(names(await store.changesAfter(head)), ['long'])
    })

    test('a position inside a trimmed batch is reset, in every process', async () => {
      await using given = await opened()
      const { store, database } = given
      const head = await store.head()
      for (let index = 1; index <= 6; index++) await database.query(`insert into pet (name) values ('n${index}')`)
      const batch = await store.read(head, 2)
      assert.ok(batch !== 'reset')
      await eventually(async () => {
        await store.store.changes.trim({ ...keepAll, rows: 0 })
        const [[count] = []] = await database.query('select count(*) from keelson_log')
        return count === '0' || undefined
      }, 'it is gone')
      await using other = await openTestStore(database.url, models)
      assert.equal(await other.read(batch.position, 2), 'reset')
      assert.equal(await store.read(batch.position, 2), 'reset')
    })
  })

  describe('notification', () => {
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
})

const byPlace = (changes: readonly Change[]) => (a: string, b: string) =>
  names(changes).indexOf(a) - names(changes).indexOf(b)

describe('a crashed server', { skip: missingPostgres ?? false }, () => {
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
