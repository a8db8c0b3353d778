import { appendFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { createService, job } from '../../../src/index.ts'
import { LogProgress } from '../../../src/jobs/log-progress.ts'

/*
 * A process that writes and runs jobs until it kills itself: `child.ts DATABASE RUNS PLANTED DRAIN`. Each run appends a
 * line with the record and its version to the file RUNS.
 */

const [database = '', runsFile = '', planted, drain] = process.argv.slice(2)
const isDraining = drain === 'drain'

if (planted === 'planted') {
  // The fault: the position is stored before the runs.
  const latest = new WeakMap<object, string>()
  const { get } = Object.getOwnPropertyDescriptor(LogProgress.prototype, 'settled') as { get(): string }
  LogProgress.prototype.add = function (position, open) {
    latest.set(this, position)
    return { position, open }
  }
  Object.defineProperty(LogProgress.prototype, 'settled', {
    get(this: LogProgress) {
      return latest.get(this) ?? get.call(this)
    },
  })
}

const end = () => process.kill(process.pid, 'SIGKILL')
const moments = ['after a commit', 'before a run', 'after a run', 'at any time'] as const
const moment = moments[Math.floor(Math.random() * moments.length)]
let untilEnd = 1 + Math.floor(Math.random() * 8)
const reached = (at: (typeof moments)[number]): void => {
  if (!isDraining && at === moment && --untilEnd === 0) end()
}
// A process that is not the holder runs no job, and ends as well.
if (!isDraining) void setTimeout(moment === 'at any time' ? Math.random() * 150 : 1_500).then(end)

const note = job(
  'note',
  async (item) => {
    reached('before a run')
    await setTimeout(Math.random() * 5)
    appendFileSync(runsFile, `${item.id} ${item.version}\n`)
    reached('after a run')
    if (!isDraining && Math.random() < 0.05) throw new Error('planned')
  },
  { concurrency: 4, retry: 1_000 },
)

const service = await createService({
  database,
  runJobs: true,
  onError: () => {},
  limits: { jobLeaseMs: 300, jobRetryMs: 20 },
  models: { item: { attributes: { version: { type: 'number' } }, on: { created: note, updated: note } } },
})

// The timers of jobs do not keep a process alive.
if (isDraining) globalThis.setInterval(() => {}, 1_000)

const { item } = service.system.records
while (!isDraining) {
  // Jobs run slower than records are written: without pauses, most kills would only add to what waits.
  await setTimeout(Math.random() * 20)
  const { id } = await item.create({ version: 0 })
  reached('after a commit')
  for (let version = 1; version <= 3; version++) {
    await item.update(id, { version })
    reached('after a commit')
  }
  const rolledBack = service.system.transaction(async (tx) => {
    await tx.item.update(id, { version: 1_000 })
    throw new Error('rolled back')
  })
  await rolledBack.catch(() => {})
}
