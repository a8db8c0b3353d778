import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { open, outcomes, stopTime, tables } from '../../../../test/support/group-commit.ts'
import { newFile } from '../../../../test/support/sqlite.ts'
import { Connection } from './connection.ts'

describe('an error that ends the shared transaction', () => {
  const spiteful = `${tables}
    create trigger spiteful before insert on pet when new.name = 'x' begin select raise(rollback, 'go away'); end;`

  test('rejects one operation: the others run again, each once', async (t) => {
    stopTime(t)
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

  test('of a single operation leaves no open transaction', async (t) => {
    const { add, connection, names } = open(t, { setUp: spiteful })
    assert.deepEqual(await outcomes([add('x')]), ['value'])
    assert.equal(connection.inTransaction, false)
    await add('a')
    assert.deepEqual(names(), ['a'])
  })

  test('at the commit: a deferred foreign key', async (t) => {
    const { add, single, names, connection } = open(t)
    const dangling = single('insert into toy (pet) values (99)')
    assert.deepEqual(await outcomes([add('a'), dangling, add('b')]), ['done', 'foreignKey', 'done'])
    assert.deepEqual(names(), ['a', 'b'])
    assert.deepEqual(connection.all('select * from toy', []), [])
    assert.deepEqual(await outcomes([single('insert into toy (pet) values (98)')]), ['foreignKey'])
    assert.equal(connection.inTransaction, false)
  })

  test('at the commit of some: those that it had no time for follow', async (t) => {
    const { add, single, connection } = open(t)
    const long = 'x'.repeat(2_000_001)
    const writes = [single('insert into toy (pet) values (99)'), add(long), add('b'), add('c')]
    assert.deepEqual(await outcomes(writes), ['foreignKey', 'done', 'done', 'done'])
    const stored = connection.all('select substr(name, 1, 3) from pet order by id', [])
    assert.deepEqual(stored, [['xxx'], ['b'], ['c']])
  })

  test('while another program takes the lock', async (t) => {
    const path = newFile()
    const { add, names, connection } = open(t, { setUp: spiteful, path })
    using other = new Connection(path, { readOnly: false })
    connection.before = (text) => {
      if (
        text !== 'begin immediate' ||
        !connection.statements.includes('begin immediate') ||
        connection.statements.includes('commit')
      )
        return
      connection.before = () => {}
      other.exec('begin immediate')
      setTimeout(() => other.exec('commit'), 20)
    }
    assert.deepEqual(await outcomes([add('a'), add('x'), add('b')]), ['done', 'value', 'done'])
    assert.deepEqual(names(), ['a', 'b'])
  })
})

describe('a failed statement that SQLite does not undo leaves no rows', () => {
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
      stopTime(t)
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

describe('an operation of several statements that fails after it has written', () => {
  const insert = 'insert into pet (name) values (?)'
  for (const [what, before, names, savepoints] of [
    ['first is undone by a rollback', [], ['b', 'c', 'd'], 1],
    ['behind one that reads', ['read'], ['b', 'c', 'd'], 1],
    ['behind another is undone alone', ['write'], ['a', 'b', 'c', 'd'], 2],
  ] as const)
    test(`${what}; the others are stored`, async (t) => {
      const opened = open(t)
      const { connection, add, several } = opened
      const earlier = before.map((kind) => (kind === 'read' ? several((query) => query('select 1', [])) : add('a')))
      const failing = several((query) => {
        query(insert, ['half'])
        query(insert, ['half'])
      })
      const later = [add('b'), several((query) => ['c', 'd'].map((name) => query(insert, [name])))]
      assert.deepEqual(await outcomes([...earlier, failing, ...later]), [
        ...before.map(() => 'done'),
        'unique',
        'done',
        'done',
      ])
      assert.deepEqual(opened.names(), names)
      assert.equal(connection.statements.filter((text) => text === 'savepoint operation').length, savepoints)
    })
})
