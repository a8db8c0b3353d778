import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { RunQueue } from './run-queue.ts'

test('the runs of an owner with many wait for those of others in turn', async () => {
  const queue = new RunQueue(1)
  const order: string[] = []
  const [many, few] = [{}, {}]
  const held = Promise.withResolvers<void>()
  queue.add({ owner: {}, run: () => held.promise })
  for (let number = 0; number < 4; number++)
    queue.add({ owner: many, run: async () => void order.push(`many ${number}`) })
  for (let number = 0; number < 2; number++)
    queue.add({ owner: few, run: async () => void order.push(`few ${number}`) })
  queue.start()
  held.resolve()
  while (order.length < 6) await turn()
  assert.deepEqual(order, ['many 0', 'few 0', 'many 1', 'few 1', 'many 2', 'many 3'])
})

test('no more than the given number run at once', async () => {
  const queue = new RunQueue(3)
  let [running, most, done] = [0, 0, 0]
  const run = async () => {
    most = Math.max(most, ++running)
    await turn()
    running--
    done++
  }
  for (let number = 0; number < 20; number++) queue.add({ owner: { number }, run })
  queue.start()
  while (done < 20) await turn()
  assert.equal(most, 3)
})

test('runs without a promise let other work in', async () => {
  const queue = new RunQueue(1)
  let done = 0
  const run = () => {
    const until = performance.now() + 2
    while (performance.now() < until);
    done++
  }
  for (let number = 0; number < 20; number++) queue.add({ owner: queue, run })
  queue.start()
  const first = done
  await turn()
  assert.ok(first < 20, `${first} in one turn`)
  while (done < 20) await turn()
})
