import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Semaphore } from './semaphore.ts'

test('a bounded number is at work at once, and the others come in the order in which they asked', async () => {
  const semaphore = new Semaphore(2)
  const begun: number[] = []
  const ends: (() => void)[] = []
  const work = async (number: number) => {
    using _ = await semaphore.acquire()
    begun.push(number)
    await new Promise<void>((resolve) => ends.push(resolve))
  }
  const all = [1, 2, 3, 4].map(work)
  for (const expected of [
    [1, 2],
    [1, 2, 3],
    [1, 2, 3, 4],
  ]) {
    await turn()
    assert.deepEqual(begun, expected)
    ends.shift()?.()
  }
  for (const end of ends) end()
  await Promise.all(all)
  using _ = await semaphore.acquire()
})
