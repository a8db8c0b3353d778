import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { defaultLimits } from '../../../support/limits.ts'
import { ByteBudget } from '../../byte-budget.ts'
import { Connection } from './connection.ts'
import { EventLoopReader, NeedsReader } from './event-loop-reader.ts'
import { RowGuard } from './row-guard.ts'

/** Blocks without using the processor, like a process that the system has suspended. */
const suspend = (ms: number): number => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  return 1
}

const compute = (ms: number): number => {
  const { user } = process.threadCpuUsage()
  while (process.threadCpuUsage().user - user < ms * 1000);
  return 1
}

const rows = 40

/** Reads with a statement whose runs call the function. The result is how often it ran on the event loop. */
async function runsOnEventLoop(
  work: () => number,
  runs: number,
  given: string | ((run: number) => string) = 'select work()',
  maxBlockMs = 10_000,
): Promise<number> {
  using connection = new Connection(':memory:', { readOnly: false })
  const guard = new RowGuard()
  guard.install(connection)
  connection.define('work', work)
  connection.exec(`create table filled (id integer primary key); ${`insert into filled default values;`.repeat(rows)}`)
  const reader = new EventLoopReader(connection, guard, { ...defaultLimits, maxBlockMs }, () => {})
  let count = 0
  for (let run = 0; run < runs; run++) {
    await nextTurn()
    const text = typeof given === 'string' ? given : given(run)
    try {
      reader.read({ text, values: [], access: 'filter' }, connection, { budget: new ByteBudget(1_000_000) })
      count++
    } catch (error) {
      if (!(error instanceof NeedsReader)) throw error
    }
  }
  return count
}

describe('a statement that takes long on the event loop', () => {
  test('goes to a reader process when it uses the processor', async () =>
    assert.equal(await runsOnEventLoop(() => compute(15), 4), 2))

  test('goes to a reader process with all others that read all rows of the same table', async () => {
    let calls = 0
    const work = () => (calls++ % rows === 0 ? compute(15) : 1)
    const ofTable = (run: number) => `select work() from filled where id + ${run} > 0`
    assert.equal(await runsOnEventLoop(work, 4, ofTable), 2)
    const byKey = (run: number) => `select work() from filled where id in (1, ${2 + run})`
    assert.equal(await runsOnEventLoop(() => compute(15), 4, byKey), 4)
  })

  const guarded = 'select id from filled where id > 0 and keelson_guard() and work()'

  test('is stopped soon when it was slow before', async () => {
    let calls = 0
    const work = () => (calls++ < rows ? suspend(1) : compute(3))
    assert.equal(await runsOnEventLoop(work, 2, guarded), 1)
    assert.ok(calls < rows * 1.5, `${calls - rows} of ${rows} rows in the second run`)
  })

  /** Each row takes 5 ms, and this much of it is CPU time. */
  for (const { what, cpuMs, rows, read } of [
    { what: 'is stopped once half of that was CPU time', cpuMs: 5, rows: 40, read: 12 },
    { what: 'is stopped later where it was suspended in between', cpuMs: 2, rows: 40, read: 19 },
    { what: 'is not stopped where it was suspended most of the time', cpuMs: 0, rows: 20, read: 20 },
    { what: 'is stopped when the time is over', cpuMs: 0, rows: 40, read: 21 },
  ])
    test(`within maxBlockMs, ${what}`, async (t) => {
      let now = 1_000
      let cpu = 0
      t.mock.method(performance, 'now', () => now)
      t.mock.method(process, 'threadCpuUsage', () => ({ user: cpu * 1_000, system: 0 }))
      let calls = 0
      const work = () => {
        now += 5
        cpu += cpuMs
        return ++calls
      }
      const count = await runsOnEventLoop(work, 1, `${guarded} limit ${rows}`, 100)
      assert.deepEqual([calls, count], [read, rows === read ? 1 : 0])
    })

  test('is stopped between rows of long values, though it has no condition', async (t) => {
    let now = 1_000
    t.mock.method(performance, 'now', () => now)
    let calls = 0
    const work = () => {
      now += 5
      return ++calls
    }
    assert.equal(await runsOnEventLoop(work, 1, 'select work(), hex(zeroblob(2000)) from filled', 100), 0)
    assert.ok(calls < rows, `${calls} of ${rows} rows`)
  })

  test('stays when the process was suspended', async () => assert.equal(await runsOnEventLoop(() => suspend(15), 4), 4))

  test('stays when a run in between was fast', async () => {
    const durations = [15, 0, 15, 0]
    assert.equal(await runsOnEventLoop(() => compute(durations.shift() as number), 4), 4)
  })
})
