import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blockEventLoop } from '../../test/support/block-event-loop.ts'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { TurnCounter } from '../../test/support/turn-counter.ts'
import { MemoryJobStore } from '../storage/memory/job-store.ts'
import { defaultLimits } from '../support/limits.ts'
import { type EventSink, JobRunner } from './job-runner.ts'

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

test('events go on where the listener of observations throws', async () => {
  const store = new MemoryJobStore()
  await store.prepare()
  await store.register([{ name: 'mail', position: '', dueAt: 0 }])
  const claim = await store.claim('mail')
  assert.ok(claim)
  const errors: string[] = []
  const ran: string[] = []
  const both = Promise.withResolvers<void>()
  let events = ['1', '2']
  const poll = (sink: EventSink) => {
    const found = events
    events = []
    for (const eventId of found)
      sink.add({ eventId, key: 'pet 1', operation: undefined, payload: { eventId }, bytes: 0 })
  }
  const runner = await JobRunner.start({
    job: {
      name: 'mail',
      retry: 0,
      concurrency: 1,
      timeoutMs: 1_000,
      run({ eventId }) {
        ran.push(String(eventId))
        if (ran.length === 2) both.resolve()
      },
    },
    claim,
    source: { progress: () => ({ position: '', dueAt: 0 }), poll, stop() {} },
    store,
    clock: new ManualClock(),
    limits: defaultLimits,
    report() {
      throw new Error('the log is full')
    },
    onError: (error) => errors.push(String(error)),
    ended() {},
  })
  await both.promise
  await runner.stop(1_000)
  assert.deepEqual(ran, ['1', '2'])
  assert.deepEqual(errors, ['Error: the log is full', 'Error: the log is full'])
})

test('an event that is stored is not kept in memory, and is read for its next run', async () => {
  const store = new MemoryJobStore()
  await store.prepare()
  await store.register([{ name: 'mail', position: '', dueAt: 0 }])
  const claim = await store.claim('mail')
  assert.ok(claim)
  const stored = { count: 0, reached: Promise.withResolvers<void>() }
  const save: typeof store.save = async (name, fence, given) => {
    const ids = await MemoryJobStore.prototype.save.call(store, name, fence, given)
    stored.count += given.added.length
    if (stored.count === 3) setImmediate(stored.reached.resolve)
    return ids
  }
  const texts: number[] = []
  const text: typeof store.text = (id) => {
    texts.push(id)
    return MemoryJobStore.prototype.text.call(store, id)
  }
  const clock = new ManualClock()
  const ran: string[] = []
  const done = Promise.withResolvers<void>()
  let events = ['1', '2', '3']
  const runner = await JobRunner.start({
    job: {
      name: 'mail',
      retry: 3,
      concurrency: 1,
      timeoutMs: 1_000,
      run({ eventId }, { attempt }) {
        ran.push(`${eventId} ${attempt}`)
        if (ran.length === 1) throw new Error('no answer')
        if (ran.length === 4) done.resolve()
      },
    },
    claim,
    source: {
      progress: () => ({ position: '', dueAt: 0 }),
      poll(sink) {
        const found = events
        events = []
        for (const eventId of found)
          sink.add({ eventId, key: 'pet 1', operation: undefined, payload: { eventId }, bytes: 1_000 })
      },
      stop() {},
    },
    store: Object.assign(store, { save, text }),
    clock,
    limits: defaultLimits,
    report() {},
    onError(error) {
      throw error
    },
    ended() {},
  })
  assert.equal(runner.bytesInMemory, 3_000)
  await stored.reached.promise
  assert.equal(runner.bytesInMemory, 0)
  clock.advance(defaultLimits.jobRetryMs)
  runner.tick()
  await done.promise
  await runner.stop(1_000)
  assert.deepEqual(ran, ['1 1', '1 2', '2 1', '3 1'])
  assert.equal(texts.length, 3)
})

test('events whose runs wait for nothing are run in several turns of the event loop', async () => {
  const store = new MemoryJobStore()
  await store.prepare()
  await store.register([{ name: 'mail', position: '', dueAt: 0 }])
  const claim = await store.claim('mail')
  assert.ok(claim)
  const added = Array.from({ length: 2_500 }, (_, index) => {
    const eventId = String(index)
    return { eventId, key: eventId, attempt: 0, dueAt: 0, bytes: 2, text: '{}', error: undefined, isDead: false }
  })
  await store.save('mail', claim.fence, { position: '', dueAt: 0, lostAt: undefined, added, failed: [], done: [] })
  const most: number[] = []
  const { waiting } = MemoryJobStore.prototype
  store.waiting = async (...given) => {
    const page = await waiting.apply(store, given)
    most.push(page.length)
    return page
  }
  using counter = new TurnCounter()
  const turns = new Set<number>()
  const all = Promise.withResolvers<void>()
  let runs = 0
  const runner = await JobRunner.start({
    job: {
      name: 'mail',
      retry: 0,
      concurrency: 1,
      timeoutMs: 1_000,
      run() {
        turns.add(counter.turn)
        if (runs % 500 === 0) blockEventLoop(10)
        if (++runs === added.length) all.resolve()
      },
    },
    claim,
    source: { progress: () => ({ position: '', dueAt: 0 }), poll() {}, stop() {} },
    store,
    clock: new ManualClock(),
    limits: defaultLimits,
    report() {},
    onError(error) {
      throw error
    },
    ended() {},
  })
  await all.promise
  await runner.stop(1_000)
  assert.deepEqual(most, [1_000, 1_000, 500, 0])
  assert.ok(turns.size >= 5, `${turns.size} turns`)
})
