import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import type { Json } from '../../protocol/json.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import { LargeWrites, mayBeLarge } from './large-writes.ts'

const list = (length: number): Json => Array.from({ length }, () => ({}))

/** Writes that each end with `end`. */
class Writes {
  readonly all = new LargeWrites(60_000)
  readonly begun: string[] = []
  readonly #ends = new Map<string, () => void>()

  run(name: string, body: Json, signal?: AbortSignal): Promise<string> {
    return this.all.run(body, { signal }, async () => {
      this.begun.push(name)
      await new Promise<void>((resolve) => this.#ends.set(name, resolve))
      return name
    })
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.()
    await settled()
  }
}

/** One that has waited begins in a later turn, when none is used. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) {
    await eventLoopTurn.next()
    await turn()
  }
}

test('eight writes of any size run at once, and the others in their order as these end', async () => {
  const writes = new Writes()
  const names = Array.from({ length: 11 }, (_, index) => String(index))
  const all = names.map((name) => writes.run(name, list(4000)))
  await settled()
  assert.deepEqual(writes.begun, names.slice(0, 8))
  await writes.end('3')
  assert.deepEqual(writes.begun, names.slice(0, 9))
  for (const name of names) await writes.end(name)
  assert.deepEqual(await Promise.all(all), names)
  assert.deepEqual(writes.begun, names)
})

test('more than eight run at once while they have fewer than 4,000 items, and small ones never wait', async () => {
  const writes = new Writes()
  const names = Array.from({ length: 12 }, (_, index) => String(index))
  const all = [...names.map((name) => writes.run(name, list(400))), writes.run('small', list(19))]
  await settled()
  assert.deepEqual(writes.begun, [...names.slice(0, 10), 'small'])
  await writes.end('small')
  for (const name of names) await writes.end(name)
  await Promise.all(all)
})

test('a write whose client has left before its turn is not run, and the one behind it is', async () => {
  const writes = new Writes()
  const running = Array.from({ length: 8 }, (_, index) => writes.run(String(index), list(4000)))
  const client = new AbortController()
  const left = writes.run('left', list(20), client.signal)
  const stays = writes.run('stays', list(20))
  client.abort()
  const refused = assert.rejects(left, { reason: { kind: 'aborted' } })
  for (let index = 0; index < 8; index++) await writes.end(String(index))
  await refused
  await writes.end('stays')
  assert.equal(await stays, 'stays')
  assert.equal(writes.begun.includes('left'), false)
  await Promise.all(running)
})

test('a write that fails lets the next one run', async () => {
  const writes = new LargeWrites(60_000)
  const failing = Array.from({ length: 20 }, () =>
    writes.run(list(4000), {}, async () => {
      await delay(1)
      throw new Error('failed')
    }),
  )
  for (const { status } of await Promise.allSettled(failing)) assert.equal(status, 'rejected')
  assert.equal(await writes.run(list(4000), {}, async () => 'done'), 'done')
})

test('a write that has waited for the longest time is refused as busy', async () => {
  const writes = new LargeWrites(20)
  const end = Promise.withResolvers<void>()
  const running = Array.from({ length: 8 }, () => writes.run(list(4000), {}, () => end.promise))
  // The timer of the wait does not keep the process alive.
  const alive = setInterval(() => {}, 1000)
  await assert.rejects(
    writes.run(list(20), {}, async () => {}),
    { reason: { kind: 'busy' } },
  )
  clearInterval(alive)
  end.resolve()
  await Promise.all(running)
})

for (const [title, body, isLarge] of [
  ['nothing', undefined, false],
  ['a text', 'x'.repeat(100), false],
  ['a record', { name: 'Rex', tags: ['a', 'b'] }, false],
  ['19 records', list(19), false],
  ['20 records', list(20), true],
  ['a record with 20 new members', { name: 'Ann', pets: list(20) }, true],
  ['4 records with 5 members each', Array.from({ length: 4 }, () => ({ pets: list(5) })), true],
  ['20 keys', Array.from({ length: 20 }, (_, index) => index), true],
] as const)
  test(`whether ${title} may be large: ${isLarge}`, () => assert.equal(mayBeLarge(body as Json | undefined), isLarge))
