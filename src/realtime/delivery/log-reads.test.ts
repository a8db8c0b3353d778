import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { blockEventLoop } from '../../../test/support/block-event-loop.ts'
import { idsOf, kinds, setUp, take } from '../../../test/support/event-iterator.ts'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import { Semaphore } from '../../support/semaphore.ts'
import { LogReads } from './log-reads.ts'

/** Whether a promise is settled after some turns of the event loop. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  const settle = () => {
    settled = true
  }
  promise.then(settle, settle)
  for (let turns = 0; turns < 20; turns++) await turn()
  return settled
}

test('consumers at the end of the log do not wait for those that are behind', async () => {
  const { log, open } = setUp()
  log.write('pet', 3)
  const behind = new Semaphore(1)
  const reads = new LogReads(log, behind, 1)
  const held = await behind.acquire()

  const resumed = open({ reads, since: '0' })
  const first = resumed.next()
  assert.equal(await isSettled(first), false)

  const fresh = open({ reads })
  assert.deepEqual(kinds(await take(fresh, 1)), ['ready'])
  log.write()
  assert.deepEqual((await take(fresh, 1)).map(idsOf), [[4]])
  // Its queue overflows, and it reads from the log what did not fit into it.
  const replayed = open({ reads, queue: { capacity: 1, weigh: () => 1, overflow: 'replay' } })
  await take(replayed, 1)
  const next = replayed.next()
  await isSettled(next)
  for (let count = 0; count < 5; count++) log.write()
  assert.deepEqual([(await next).value, ...(await take(replayed, 4))].map(idsOf), [[5], [6], [7], [8], [9]])

  assert.equal(await isSettled(first), false)
  held[Symbol.dispose]()
  assert.equal((await first).value?.kind, 'ready')
  assert.deepEqual((await take(resumed, 1)).map(idsOf), [[1, 2, 3]])
  for (const consumer of [resumed, fresh, replayed]) await consumer.return()
})

test('one that resumes from a recent position does not wait for those that are behind', async () => {
  const { log, open } = setUp()
  log.write('pet', 3)
  let now = 0
  const behind = new Semaphore(1)
  const reads = new LogReads(log, behind, 1, () => now)
  const held = await behind.acquire()
  const old = open({ reads, since: '3' })
  const first = old.next()
  await isSettled(first)
  const resumes = async (since: string) => {
    const resumed = open({ reads, since })
    const next = resumed.next()
    const answered = await isSettled(next)
    void resumed.return()
    return answered
  }
  // Where the end of the log was in the last minute is known while clients read it.
  log.write()
  assert.deepEqual([await resumes('2'), await resumes('3'), await resumes('4')], [false, true, true])
  for (let ms = 15_000; ms <= 75_000; ms += 15_000) {
    now = ms
    log.write()
    await resumes('0')
  }
  assert.deepEqual([await resumes('4'), await resumes('5'), await resumes('9')], [false, false, true])
  now += 61_000
  assert.equal(await resumes('9'), false)
  held[Symbol.dispose]()
  assert.equal((await first).value?.kind, 'ready')
  await old.return()
})

test('one that stays behind waits like the others', async () => {
  const { log, open } = setUp()
  const behind = new Semaphore(1)
  const reads = new LogReads(log, behind, 1)
  const held = await behind.acquire()
  const slow = open({ reads })
  assert.deepEqual(kinds(await take(slow, 1)), ['ready'])
  // More than it reads while it counts as near the end, in operations of 500 changes.
  for (let count = 0; count < 8; count++) log.write('pet', 500)
  assert.deepEqual(
    (await take(slow, 4)).map((item) => idsOf(item).length),
    [500, 500, 500, 500],
  )
  const fifth = slow.next()
  assert.equal(await isSettled(fifth), false)
  held[Symbol.dispose]()
  assert.equal(idsOf((await fifth).value).length, 500)
  await slow.return()
})

test('reads that do not wait by themselves have several turns of the event loop', async () => {
  const read = (after: string) => {
    blockEventLoop(10)
    return { changes: [], position: after }
  }
  const log = { head: () => '0', reaches: () => true, read, onChange: () => ({ [Symbol.dispose]() {} }) }
  const reads = new LogReads(log, new Semaphore(1), 1)
  using counter = new TurnCounter()
  await Promise.all(Array.from({ length: 3 }, () => reads.read('0', () => true, false)))
  assert.ok(counter.turn >= 3, `${counter.turn} turns`)
})
