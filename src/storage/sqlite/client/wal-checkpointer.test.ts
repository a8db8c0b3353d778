import assert from 'node:assert/strict'
import { truncateSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { newFile } from '../../../../test/support/sqlite.ts'
import type { CheckpointThread } from './checkpoint-thread.ts'
import { WalCheckpointer } from './wal-checkpointer.ts'

const megabyte = 1024 * 1024

test('an early check asks for a checkpoint of a log that has grown, and of no other', () => {
  const path = newFile()
  let runs = 0
  const thread = { run: () => void runs++ } as unknown as CheckpointThread
  const checkpointer = new WalCheckpointer(`${path}-wal`, thread)
  const runsAfter = (bytes: number, isEarly: boolean): number => {
    writeFileSync(`${path}-wal`, '', { flag: 'a' })
    truncateSync(`${path}-wal`, bytes)
    assert.equal(checkpointer.check(isEarly), undefined)
    return runs
  }
  const steps: readonly (readonly [number, boolean])[] = [
    [3 * megabyte, true],
    [5 * megabyte, true],
    [5 * megabyte, true],
    [5 * megabyte, false],
    [6 * megabyte, true],
    [5 * megabyte, true],
    [6 * megabyte, true],
  ]
  assert.deepEqual(
    steps.map(([bytes, isEarly]) => runsAfter(bytes, isEarly)),
    [0, 1, 1, 2, 3, 3, 4],
  )
})
