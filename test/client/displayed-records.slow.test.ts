import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../src/client.ts'
import { createService } from '../../src/index.ts'
import { Random } from '../support/random.ts'
import { seed as firstSeed } from '../support/seed.ts'

/*
 * The writes are those of one client, so that what it displays is known at every moment. Each record is displayed once, in the lane
 * that it was given last and with the value that it was given last, from the call that creates it to the one that destroys
 * it, whatever arrives first and whatever breaks.
 */

const runs = Number(process.env.KEELSON_TEST_STEPS ?? 15)
const models = {
  card: {
    attributes: {
      title: { type: 'string', required: true },
      lane: { type: 'string', required: true },
      rank: { type: 'number' },
      value: { type: 'number' },
    },
  },
} as const
const lanes = ['todo', 'doing', 'done']

describe('what one client has written is displayed at every moment', () => {
  for (const outbox of [false, true])
    test(`in ${runs} random histories ${outbox ? 'with' : 'without'} an outbox`, async () => {
      for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
        try {
          await history(new Random(seed), outbox)
        } catch (error) {
          throw new Error(`KEELSON_TEST_SEED=${seed} KEELSON_TEST_STEPS=1`, { cause: error })
        }
      }
    })
})

async function history(random: Random, outbox: boolean): Promise<void> {
  await using service = await createService({ database: 'sqlite::memory:', models })
  const { url } = await service.listen(0)
  const network = new Network(random)
  using api = createClient<{ models: typeof models }>({ url, outbox, retryDelayMs: [1, 5], fetch: network.fetch })
  const all = api.card.live({ sort: 'rank', limit: 500 })
  const perLane = lanes.map((lane) => api.card.live({ where: { lane }, sort: 'createdAt DESC', limit: 500 }))
  await Promise.all([all, ...perLane].map(({ ready }) => ready))

  /** By title, the lane and the value that each record was given last. */
  const expected = new Map<string, { readonly lane: string; readonly value: number }>()
  const checkLanes = (when: string) => {
    const shown = lanes.flatMap((lane, index) =>
      (perLane[index]?.rows ?? []).map(({ title, value }) => `${title} ${lane} ${value}`),
    )
    assert.deepEqual(
      shown.toSorted(),
      [...expected].map(([title, { lane, value }]) => `${title} ${lane} ${value}`).toSorted(),
      `in the lanes ${when}`,
    )
  }
  const checkAll = (when: string) =>
    assert.deepEqual(
      all.rows.map(({ title, value }) => `${title} ${value}`).toSorted(),
      [...expected].map(([title, { value }]) => `${title} ${value}`).toSorted(),
      `in the list ${when}`,
    )
  let isCalling = false
  all.subscribe(() => isCalling || checkAll('in a frame'))

  const writing: Promise<unknown>[] = []
  for (let step = 0; step < 30; step++) {
    const kind = random.below(10)
    const lane = random.pick(lanes)
    const rank = random.below(5)
    const row = random.pick(all.rows)
    isCalling = true
    if (kind === 0) network.cut()
    else if (kind === 1 && outbox) network.fail(10 + random.below(20))
    else if (kind < 4 || !row) {
      const values = { title: `c${step}`, lane, value: step }
      expected.set(values.title, values)
      writing.push(api.card.create({ ...values, rank }, { optimistic: true }))
    } else if (kind === 4 && expected.size > 2) {
      expected.delete(row.title)
      writing.push(api.card.destroy(row.id, { optimistic: true }))
    } else {
      expected.set(row.title, { lane, value: step })
      writing.push(api.card.update(row.id, { lane, rank, value: step }, { optimistic: true }))
    }
    isCalling = false
    for (let turn = 0; turn <= random.below(3); turn++) {
      checkAll(`at step ${step}`)
      checkLanes(`at step ${step}`)
      await sleep(random.below(5))
    }
  }
  await Promise.all(writing)
  const { data } = await service.system.records.card.find({ sort: 'rank', limit: 500 })
  while (JSON.stringify(all.rows) !== JSON.stringify(data)) await sleep(2)
  checkAll('at the end')
  checkLanes('at the end')
  assert.equal(api.outbox.size, 0)
}

/** Requests, answers and pieces of streams that are delayed, lost and cut off. */
class Network {
  readonly #random: Random
  readonly #cuts = new Set<() => void>()
  #isDown = false

  constructor(random: Random) {
    this.#random = random
  }

  /** Breaks the streams. */
  cut(): void {
    for (const cut of this.#cuts) cut()
    this.#cuts.clear()
  }

  /** For a time no request gets an answer, though some are received. */
  fail(ms: number): void {
    this.#isDown = true
    this.cut()
    setTimeout(() => {
      this.#isDown = false
    }, ms)
  }

  readonly fetch: typeof fetch = async (input, init) => {
    this.#assertUp()
    await this.#wait()
    const response = await fetch(input, init)
    await this.#wait()
    this.#assertUp()
    if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) return response
    const slow = new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) => void this.#cuts.add(() => controller.error(new TypeError('the connection was cut'))),
      transform: async (piece, controller) => {
        await this.#wait()
        controller.enqueue(piece)
      },
    })
    return new Response(response.body.pipeThrough(slow), response)
  }

  #wait = () => sleep(this.#random.below(6))

  #assertUp(): void {
    if (this.#isDown) throw new TypeError('no connection')
  }
}
