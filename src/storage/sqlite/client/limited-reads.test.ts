import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../../protocol/errors.ts'
import { PostponedRead, type Query } from '../../driver.ts'
import type { Connection } from './connection.ts'
import { limitReads, limitSharedReads, NeedsOwnTransaction } from './limited-reads.ts'
import type { ReaderPool } from './reader-pool.ts'
import { RowGuard } from './row-guard.ts'

const limits = { maxBlockMs: 25, maxTransactionBlockMs: 250 }

for (const [what, readMs, mostReads] of [
  ['short reads do not add up', 2, 1000],
  ['long reads add up', 20, 12],
] as const)
  test(`after a transaction has written, ${what}`, async (t) => {
    let now = 0
    t.mock.method(performance, 'now', () => now)
    t.mock.method(process, 'threadCpuUsage', () => ({ user: now * 1000, system: 0 }))
    const guard = new RowGuard()
    const connection: Pick<Connection, 'define' | 'onStep'> = { define: () => {}, onStep: () => {} }
    guard.install(connection as Connection)
    const query = limitReads(
      () => {
        now += readMs
        connection.onStep()
        return []
      },
      { guard, limits, processes: undefined },
    )
    await query('update thing', [])
    let reads = 0
    const refusal = await (async () => {
      for (; reads < 1000; reads++) await query('select', [])
    })().catch((error: unknown) => error)
    assert.equal(reads, mostReads)
    assert.equal(refusal instanceof ServiceError && refusal.details.limit, reads < 1000 && 'maxTransactionBlockMs')
  })

for (const [writes, othersHaveWritten, isAlone] of [
  [100, true, false],
  [101, true, true],
  [101, false, false],
] as const)
  test(`an operation of ${writes} writes ${othersHaveWritten ? 'behind others' : 'before others'} ${isAlone ? 'needs a transaction of its own' : 'may share one'}`, async () => {
    let written = 0
    const write: Query = () => {
      written++
      return []
    }
    const given = { guard: new RowGuard(), limits, processes: undefined }
    const run = limitSharedReads(write, given, othersHaveWritten, async (query) => {
      for (let count = 0; count < writes; count++) await (async () => query('insert into thing', []))().catch(() => {})
    })
    if (isAlone) await assert.rejects(run, NeedsOwnTransaction)
    else await run
    assert.equal(written, isAlone ? 100 : writes)
  })

for (const [what, isPostponable] of [
  ['is postponed where that is possible', true],
  ['goes on where it is needed', false],
] as const)
  test(`a long read after a write ${what}`, async (t) => {
    let now = 0
    t.mock.method(performance, 'now', () => now)
    t.mock.method(process, 'threadCpuUsage', () => ({ user: now * 1000, system: 0 }))
    const guard = new RowGuard()
    const connection: Pick<Connection, 'define' | 'onStep'> = { define: () => {}, onStep: () => {} }
    guard.install(connection as Connection)
    const query: Query = (text) => {
      if (text.startsWith('select'))
        for (let row = 0; row < 30; row++) {
          now++
          connection.onStep()
        }
      return []
    }
    const processes = { read: assert.fail } as unknown as ReaderPool
    const run = limitSharedReads(query, { guard, limits, processes }, false, async (query) => {
      await query('insert into thing', [])
      return query('select', [], { isPostponable })
    })
    if (isPostponable) await assert.rejects(run, PostponedRead)
    else assert.deepEqual(await run, [])
  })
