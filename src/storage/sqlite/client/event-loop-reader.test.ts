import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { defaultLimits } from '../../../support/limits.ts'
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
async function runsOnEventLoop(work: () => number, runs: number, text = 'select work()'): Promise<number> {
  using connection = new Connection(':memory:', { readOnly: false })
  const guard = new RowGuard()
  guard.install(connection)
  connection.define('work', work)
  connection.exec(`create table filled (id integer primary key); ${`insert into filled default values;`.repeat(rows)}`)
  const reader = new EventLoopReader(connection, guard, { ...defaultLimits, maxBlockMs: 10_000 }, () => {})
  let count = 0
  for (let run = 0; run < runs; run++) {
    await nextTurn()
    try {
      reader.read({ text, values: [], access: 'filter' }, connection)
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

  test('is stopped soon when it was slow before', async () => {
    let calls = 0
    const work = () => {
      calls++
      for (const end = performance.now() + 3; performance.now() < end; );
      return 1
    }
    const text = 'select id from filled where id > 0 and keelson_guard() and work()'
    assert.equal(await runsOnEventLoop(work, 2, text), 1)
    assert.ok(calls < rows * 1.5, `${calls - rows} of ${rows} rows in the second run`)
  })

  test('stays when the process was suspended', async () => assert.equal(await runsOnEventLoop(() => suspend(15), 4), 4))

  test('stays when a run in between was fast', async () => {
    const durations = [15, 0, 15, 0]
    assert.equal(await runsOnEventLoop(() => compute(durations.shift() as number), 4), 4)
  })
})
