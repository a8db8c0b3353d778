import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { open, outcomes, refused, stopTime } from '../../../../test/support/group-commit.ts'
import { newFile } from '../../../../test/support/sqlite.ts'
import { Connection } from './connection.ts'

describe('writes that arrive together', () => {
  test('share one commit, and resolve after it', async (t) => {
    stopTime(t)
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

  test('in turns of the event loop that follow one another share one commit, but not without end', async (t) => {
    const { connection, add, names } = open(t)
    stopTime(t)
    const arriving = async (count: number): Promise<void> => {
      const writes: Promise<unknown>[] = []
      for (let index = 0; index < count; index++) {
        writes.push(add(`${count} ${index}`))
        await nextTurn()
      }
      await Promise.all(writes)
    }
    await arriving(5)
    assert.equal(connection.commits, 1)
    await arriving(100)
    assert.ok(connection.commits > 2, `${connection.commits} commits`)
    assert.equal(names().length, 105)
  })

  test('wait behind one that is to be first', async (t) => {
    const { add, writer } = open(t)
    const order: string[] = []
    const waiting = ['a', 'b'].map((name) => add(name).then(() => order.push(name)))
    const first = writer
      .run(() => 1, { single: false, origin: undefined, isFirst: true })
      .then(() => order.push('first'))
    await Promise.all([...waiting, first])
    assert.deepEqual(order, ['first', 'a', 'b'])
  })

  test('of much that is written share no commit: one of several megabytes would block the event loop', async (t) => {
    const { connection, add } = open(t)
    await Promise.all(Array.from({ length: 12 }, (_, index) => add(`${index}${'x'.repeat(1_000_000)}`)))
    assert.ok(connection.commits >= 4, `${connection.commits} commits`)
  })

  test('of much that is written are answered in turns of their own: each answer is long', async (t) => {
    const { single } = open(t)
    let turn = 0
    let next = setImmediate(function count() {
      turn++
      next = setImmediate(count)
    })
    t.after(() => clearImmediate(next))
    const write = (name: string) => single('insert into pet (name) values (?)', name).then(() => turn)
    const answered = await Promise.all(['a', 'b', 'c'].map((name) => write(name.repeat(200_000))))
    assert.equal(new Set(answered).size, 3)
  })

  test('of much that is written are committed in a turn of its own', async (t) => {
    stopTime(t)
    const { connection, add } = open(t)
    const log: string[] = []
    connection.before = (text) => void (/^(begin|commit)/.test(text) && log.push(text))
    const written = add('x'.repeat(1_000_000))
    while (log.length === 0) await nextTurn()
    log.push('other')
    await written
    assert.deepEqual(log, ['begin immediate', 'other', 'commit'])
  })

  test('in two turns of the event loop make two commits', async (t) => {
    const { connection, add } = open(t)
    await add('a')
    await add('b')
    assert.equal(connection.commits, 2)
  })

  test('are rejected alone: the others are stored in the same commit', async (t) => {
    stopTime(t)
    const { connection, add, several, names } = open(t)
    const both = (...names: string[]) =>
      several((query) => names.map((name) => query('insert into pet (name) values (?)', [name])))
    const writes = [add('a'), add('a'), both('half', 'a'), add('b'), both('c', 'd')]
    assert.deepEqual(await outcomes(writes), ['done', 'unique', 'unique', 'done', 'done'])
    assert.deepEqual(names(), ['a', 'b', 'c', 'd'])
    assert.equal(connection.commits, 1)
  })

  test('are rejected alone when one of them throws', async (t) => {
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

  test('do not notify when all of them fail', async (t) => {
    const opened = open(t)
    await opened.add('a')
    const before = opened.woken
    assert.deepEqual(await outcomes([opened.add('a'), opened.add('a')]), ['unique', 'unique'])
    assert.equal(opened.woken, before)
  })
})

test('operations run strictly one after another, also asynchronous ones', async (t) => {
  const { several } = open(t)
  const steps: string[] = []
  const slow = (name: string) =>
    several(async () => {
      steps.push(`${name} begins`)
      await nextTurn()
      steps.push(`${name} ends`)
    })
  await Promise.all([slow('first'), slow('second'), slow('third')])
  assert.deepEqual(steps, ['first begins', 'first ends', 'second begins', 'second ends', 'third begins', 'third ends'])
})

describe('a database that another program has locked', () => {
  test('is awaited without blocking the event loop', async (t) => {
    const path = newFile()
    const { add, names } = open(t, { path, limits: { busyTimeoutMs: 300 } })
    using other = new Connection(path, { readOnly: false })
    other.exec('begin immediate')
    const write = add('a')
    // If the event loop were blocked, the timer that releases the lock could not fire in time.
    setTimeout(() => other.exec('commit'), 30)
    await write
    assert.deepEqual(names(), ['a'])
  })

  test('beyond the limit rejects all queued operations, and only those', async (t) => {
    const path = newFile()
    const { add, names } = open(t, { path, limits: { busyTimeoutMs: 20 } })
    using other = new Connection(path, { readOnly: false })
    other.exec('begin immediate')
    assert.deepEqual(await outcomes([add('a'), add('b')]), ['busy', 'busy'])
    other.exec('commit')
    await add('c')
    assert.deepEqual(names(), ['c'])
  })

  test('bounds the number of queued writes', async (t) => {
    const { add, names } = open(t, { limits: { maxQueuedWrites: 2 } })
    assert.deepEqual(await outcomes([add('a'), add('b'), add('c')]), ['done', 'done', 'busy'])
    assert.deepEqual(names(), ['a', 'b'])
  })
})

test('close() finishes accepted operations and rejects new ones', async (t) => {
  const { add, writer, names } = open(t)
  const accepted = outcomes([add('a'), add('b')])
  const closed = writer.close()
  await assert.rejects(add('c'), refused('lost'))
  await closed
  assert.deepEqual(names(), ['a', 'b'])
  assert.deepEqual(await accepted, ['done', 'done'])
})

test('close() rejects what waits too long for a transaction, which may end', async (t) => {
  const { add, writer, names } = open(t, { limits: { stopTimeoutMs: 1 } })
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const transaction = writer.run(
    async (query) => {
      begun.resolve()
      await held.promise
      await query('insert into pet (name) values (?)', ['a'])
    },
    { single: false, origin: undefined, isExclusive: true },
  )
  const waiting = [add('b'), add('c')]
  await begun.promise
  const closed = writer.close()
  assert.deepEqual(await outcomes(waiting), ['lost', 'lost'])
  held.resolve()
  await Promise.all([transaction, closed])
  assert.deepEqual(names(), ['a'])
})

test('a transaction that has taken long is committed, and the other operations follow in order', async (t) => {
  const { connection, several, names } = open(t)
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const slow = ['a', 'b', 'c'].map((name) =>
    several((query) => {
      now += 110
      query('insert into pet (name) values (?)', [name])
    }),
  )
  const fast = several((query) => query('insert into pet (name) values (?)', ['d']))
  await Promise.all([...slow, fast])
  assert.deepEqual(names(), ['a', 'b', 'c', 'd'])
  assert.equal(connection.commits, 4)
})
