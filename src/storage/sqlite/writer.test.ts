import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { newFile } from '../../../test/sqlite.ts'
import { defaultLimits } from '../../support/limits.ts'
import { DatabaseError, type Fault, type Query } from '../driver.ts'
import { Connection } from './connection.ts'
import { Writer } from './writer.ts'

/** A connection that says what it was told. */
class WatchedConnection extends Connection {
  readonly told: string[] = []
  /** Called before a statement is run. */
  before: (text: string) => void = () => {}

  override exec(text: string): void {
    this.before(text)
    this.told.push(text)
    super.exec(text)
  }

  get commits(): number {
    return this.told.filter((text) => text === 'commit').length
  }
}

const tables = `
  create table pet (id integer primary key autoincrement, name text unique);
  create table toy (id integer primary key, pet integer references pet deferrable initially deferred);`

function open(t: TestContext, { setUp = tables, limits = {}, path = ':memory:' } = {}) {
  const connection = new WatchedConnection(path, { readOnly: false })
  connection.exec(`${path === ':memory:' ? '' : 'pragma journal_mode = wal;'}${setUp}`)
  let woken = 0
  const writer = new Writer(
    connection,
    { ...defaultLimits, ...limits },
    () => undefined,
    () => {
      woken++
      return undefined
    },
  )
  t.after(async () => {
    await writer.close()
    connection[Symbol.dispose]()
  })
  const single = (text: string, ...values: unknown[]) =>
    writer.run((query) => query(text, values), { single: true, origin: undefined })
  return {
    connection,
    writer,
    single,
    add: (name: string) => single('insert into pet (name) values (?) returning id', name),
    several: <T>(work: (query: Query) => T | Promise<T>) => writer.run(work, { single: false, origin: undefined }),
    names: () => connection.all('select name from pet order by id', []).map(([name]) => name),
    get woken() {
      return woken
    },
  }
}

const refused = (kind: Fault['kind']) => (error: unknown) => error instanceof DatabaseError && error.fault.kind === kind
const outcomes = async (writes: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(writes)).map((result) =>
    result.status === 'fulfilled' ? 'done' : (result.reason as DatabaseError).fault.kind,
  )

describe('writes that arrive together', () => {
  test('share one commit, and are told of it after it', async (t) => {
    const opened = open(t)
    const { connection, add } = opened
    const atTheAnswer: boolean[] = []
    const ids = await Promise.all(
      ['a', 'b', 'c'].map((name) => add(name).finally(() => atTheAnswer.push(connection.inTransaction))),
    )
    assert.deepEqual(ids, [[[1]], [[2]], [[3]]])
    assert.equal(connection.commits, 1)
    assert.deepEqual(atTheAnswer, [false, false, false])
    assert.equal(opened.woken, 1)
  })

  test('of two turns make two commits', async (t) => {
    const { connection, add } = open(t)
    await add('a')
    await add('b')
    assert.equal(connection.commits, 2)
  })

  test('are refused alone: the others are stored, in the same commit', async (t) => {
    const { connection, add, several, names } = open(t)
    const both = (...names: string[]) =>
      several((query) => names.map((name) => query('insert into pet (name) values (?)', [name])))
    const writes = [add('a'), add('a'), both('half', 'a'), add('b'), both('c', 'd')]
    assert.deepEqual(await outcomes(writes), ['done', 'unique', 'unique', 'done', 'done'])
    assert.deepEqual(names(), ['a', 'b', 'c', 'd'])
    assert.equal(connection.commits, 1)
  })

  test('are refused alone when one of them throws for reasons of its own', async (t) => {
    const { add, several, names } = open(t)
    const why = new Error('no')
    const thrown = several((query) => {
      query('insert into pet (name) values (?)', ['half'])
      throw why
    })
    const [first, second] = await Promise.allSettled([thrown, add('a')])
    assert.equal(first?.status === 'rejected' && first.reason, why)
    assert.equal(second?.status, 'fulfilled')
    assert.deepEqual(names(), ['a'])
  })

  test('say nothing of a commit when all of them fail', async (t) => {
    const opened = open(t)
    await opened.add('a')
    const before = opened.woken
    assert.deepEqual(await outcomes([opened.add('a'), opened.add('a')]), ['unique', 'unique'])
    assert.equal(opened.woken, before)
  })
})

describe('a fault that ends the transaction under all of them', () => {
  const spiteful = `${tables}
    create trigger spiteful before insert on pet when new.name = 'x' begin select raise(rollback, 'go away'); end;`

  test('is the fault of one: the others are run again, each once', async (t) => {
    const { add, several, names } = open(t, { setUp: spiteful })
    let runs = 0
    const two = () =>
      several((query) => {
        runs++
        query('insert into pet (name) values (?)', ['b1'])
        query('insert into pet (name) values (?)', ['b2'])
      })
    assert.deepEqual(await outcomes([add('a'), two(), add('x'), add('c')]), ['done', 'done', 'value', 'done'])
    assert.deepEqual(names(), ['a', 'b1', 'b2', 'c'])
    assert.equal(runs, 2)
  })

  test('inside an operation of several statements', async (t) => {
    const { add, several, names } = open(t, { setUp: spiteful })
    const two = () =>
      several((query) => {
        query('insert into pet (name) values (?)', ['half'])
        query('insert into pet (name) values (?)', ['x'])
      })
    assert.deepEqual(await outcomes([add('a'), two(), add('c')]), ['done', 'value', 'done'])
    assert.deepEqual(names(), ['a', 'c'])
  })

  test('on its own is refused, and nothing is left open', async (t) => {
    const { add, connection, names } = open(t, { setUp: spiteful })
    assert.deepEqual(await outcomes([add('x')]), ['value'])
    assert.equal(connection.inTransaction, false)
    await add('a')
    assert.deepEqual(names(), ['a'])
  })

  test('and shows only at the commit: a deferred foreign key', async (t) => {
    const { add, single, names, connection } = open(t)
    const dangling = single('insert into toy (pet) values (99)')
    assert.deepEqual(await outcomes([add('a'), dangling, add('b')]), ['done', 'foreignKey', 'done'])
    assert.deepEqual(names(), ['a', 'b'])
    assert.deepEqual(connection.all('select * from toy', []), [])
    assert.deepEqual(await outcomes([single('insert into toy (pet) values (98)')]), ['foreignKey'])
    assert.equal(connection.inTransaction, false)
  })

  test('while another program takes its turn', async (t) => {
    const path = newFile()
    const { add, names, connection } = open(t, { setUp: spiteful, path })
    const other = new Connection(path, { readOnly: false })
    connection.before = (text) => {
      if (
        text !== 'begin immediate' ||
        !connection.told.includes('begin immediate') ||
        connection.told.includes('commit')
      )
        return
      connection.before = () => {}
      other.exec('begin immediate')
      setTimeout(() => other.exec('commit'), 20)
    }
    assert.deepEqual(await outcomes([add('a'), add('x'), add('b')]), ['done', 'value', 'done'])
    assert.deepEqual(names(), ['a', 'b'])
    other[Symbol.dispose]()
  })
})

describe('a statement that fails without undoing itself leaves nothing', () => {
  for (const [what, setUp] of [
    [
      'because of a trigger',
      `${tables} create trigger late after insert on pet when new.name = 'x' begin select raise(fail, 'too late'); end;`,
    ],
    [
      'because of a constraint, in a trigger of another',
      `create table pet (id integer primary key, name text unique on conflict fail); insert into pet values (0, 'z');
       create trigger early before insert on pet when new.name = 'x' begin insert into pet values (null, 'half'), (null, 'z'); end;`,
    ],
  ] as const) {
    test(what, async (t) => {
      const { add, connection, names } = open(t, { setUp })
      const before = names()
      assert.equal((await outcomes([add('x')]))[0] === 'done', false)
      const [first, refused, ...others] = await outcomes([add('a'), add('x'), add('b'), add('b')])
      assert.deepEqual([first, refused === 'done', ...others], ['done', false, 'done', 'unique'])
      assert.deepEqual(names(), [...before, 'a', 'b'])
      assert.equal(connection.commits, 1)
    })
  }
})

test('operations run strictly one after another, also those that wait', async (t) => {
  const { several } = open(t)
  const told: string[] = []
  const slow = (name: string) =>
    several(async () => {
      told.push(`${name} begins`)
      await nextTurn()
      told.push(`${name} ends`)
    })
  await Promise.all([slow('first'), slow('second'), slow('third')])
  assert.deepEqual(told, ['first begins', 'first ends', 'second begins', 'second ends', 'third begins', 'third ends'])
})

describe('a database that another program holds', () => {
  test('is waited for, while this process goes on', async (t) => {
    const path = newFile()
    const { add, names } = open(t, { path, limits: { busyTimeoutMs: 300 } })
    const other = new Connection(path, { readOnly: false })
    other.exec('begin immediate')
    const write = add('a')
    // Were this process held up by the waiting, the timer that ends it could not go off in time.
    setTimeout(() => other.exec('commit'), 30)
    await write
    assert.deepEqual(names(), ['a'])
    other[Symbol.dispose]()
  })

  test('for too long refuses all that wait, and only those', async (t) => {
    const path = newFile()
    const { add, names } = open(t, { path, limits: { busyTimeoutMs: 20 } })
    const other = new Connection(path, { readOnly: false })
    other.exec('begin immediate')
    assert.deepEqual(await outcomes([add('a'), add('b')]), ['busy', 'busy'])
    other.exec('commit')
    await add('c')
    assert.deepEqual(names(), ['c'])
    other[Symbol.dispose]()
  })

  test('lets no more writes wait than it may', async (t) => {
    const { add, names } = open(t, { limits: { maxQueuedWrites: 2 } })
    assert.deepEqual(await outcomes([add('a'), add('b'), add('c')]), ['done', 'done', 'busy'])
    assert.deepEqual(names(), ['a', 'b'])
  })
})

test('closing finishes what was accepted, and accepts nothing more', async (t) => {
  const { add, writer, names } = open(t)
  const accepted = outcomes([add('a'), add('b')])
  const closed = writer.close()
  await assert.rejects(add('c'), refused('lost'))
  await closed
  assert.deepEqual(names(), ['a', 'b'])
  assert.deepEqual(await accepted, ['done', 'done'])
})
