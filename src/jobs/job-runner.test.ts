import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { MemoryJobStore } from '../storage/memory/job-store.ts'
import { defaultLimits } from '../support/limits.ts'
import { JobRunner } from './job-runner.ts'

class UnreachableStore extends MemoryJobStore {
  override async waiting(): Promise<never> {
    throw new Error('the connection was lost')
  }
}

test('a runner that cannot start stops its source', async () => {
  let stopped = 0
  const source = { progress: () => ({ position: '', dueAt: 0 }), poll() {}, stop: () => void stopped++ }
  const start = JobRunner.start({
    job: { name: 'mail', retry: 0, concurrency: 1, timeoutMs: 1_000, run() {} },
    claim: { fence: 1, position: '', dueAt: 0, revision: 0 },
    source,
    store: new UnreachableStore(),
    clock: new ManualClock(),
    limits: defaultLimits,
    report() {},
    onError() {},
    ended() {},
  })
  await assert.rejects(start, /the connection was lost/)
  assert.equal(stopped, 1)
})
