import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { missingPostgres, postgresForTests } from '../support/postgres.ts'
import { Random } from '../support/random.ts'
import { newFile } from '../support/sqlite.ts'
import { clinic } from './cost-fuzz/clinic.ts'
import { alterRequest, type CostRequest, randomRequest, sentOf } from './cost-fuzz/cost-request.ts'
import { randomWorld } from './cost-fuzz/random-world.ts'
import { type Cost, fillPostgres, fillSqlite, Target } from './cost-fuzz/target.ts'
import type { World } from './cost-fuzz/world.ts'

/*
 * Searches for valid requests that cost others: random conditions, sort orders, populated associations and pages over large
 * tables, alone, in batches, live queries and actions, and writes of many records; and alterations of the worst found so far.
 * The models are those of a clinic, and random ones: other seeds have other keys, indexes, associations and frequent values.
 * Its signal is the time for which a request holds the event loop.
 *
 *   KEELSON_COST_ROWS=200000 KEELSON_COST_REQUESTS=5000 KEELSON_COST_SEED=7 KEELSON_COST_MS=50 \
 *     npm test -- test/attack/cost-fuzz.slow.test.ts
 */
const rows = Number(process.env.KEELSON_COST_ROWS ?? 20_000)
const total = Number(process.env.KEELSON_COST_REQUESTS ?? 150)
const seed = Number(process.env.KEELSON_COST_SEED ?? 1)
/** CPU time of one turn of the event loop: ten times the budget of the main thread, for slow machines. */
const maxBlockedMs = Number(process.env.KEELSON_COST_MS ?? 250)
/** Longer ones are refused by the HTTP server before they are parsed. */
const longestAddress = 15_000

const describeRequest = (request: CostRequest, world: World): string => {
  const { method, address, body } = sentOf(request, world)
  return `${method} ${decodeURIComponent(address)} ${body === undefined ? '' : JSON.stringify(body)}`
}

interface Found extends Cost {
  readonly request: CostRequest
  /** The number of the random request that it descends from; only the worst of each is kept. */
  readonly family: number
}

async function search(target: Target, world: World, t: TestContext): Promise<void> {
  const random = new Random(seed)
  const source = { random, world }
  let worst: readonly Found[] = []
  let answered = 0
  for (let count = 0; count < total; count++) {
    const parent = worst.length > 0 && random.chance(0.5) ? random.pick(worst) : undefined
    const request = parent ? alterRequest(source, parent.request) : randomRequest(source)
    const sent = sentOf(request, world)
    if (sent.address.length > longestAddress) continue
    const cost = await target.cost(sent)
    if (cost.status === 200 || cost.status === 201) answered++
    assert.notEqual(cost.status, 500, JSON.stringify(sent))
    const found = { ...cost, request, family: parent?.family ?? count }
    const rival = worst.find(({ family }) => family === found.family)
    if (rival && rival.blockedMs >= found.blockedMs) continue
    worst = [...worst.filter((other) => other !== rival), found].sort((a, b) => b.blockedMs - a.blockedMs).slice(0, 8)
  }
  t.diagnostic(`${total} requests over ${rows} records, ${answered} answered; the worst:`)
  for (const { status, blockedMs, othersMs, request } of worst) {
    const text = `${request.kind}: ${describeRequest(request, world)}`.slice(0, 400)
    t.diagnostic(`${blockedMs.toFixed(0)} ms, others waited ${othersMs.toFixed(0)} ms, ${status} ${text}`)
  }
  assert.ok(answered > total / 4, `only ${answered} of ${total} requests were answered`)
  const blocking = worst.filter(({ blockedMs }) => blockedMs > maxBlockedMs)
  assert.deepEqual(
    blocking.map(({ request }) => describeRequest(request, world)),
    [],
    `blocked the event loop for more than ${maxBlockedMs} ms (seed ${seed})`,
  )
}

/** A search may be as long as its options say. */
const timeout = 3_600_000

describe('no valid request holds the event loop', () => {
  for (const [title, world] of [
    ['a clinic', clinic],
    [`random models (seed ${seed})`, randomWorld(new Random(seed))],
  ] as const) {
    test(`on SQLite: ${title}`, { timeout }, async (t) => {
      const file = newFile()
      await fillSqlite(file, world, rows)
      await using target = await Target.start(`sqlite:${file}`, world)
      await search(target, world, t)
    })

    test(`on PostgreSQL: ${title}`, { timeout, skip: missingPostgres ?? false }, async (t) => {
      const server = await postgresForTests()
      await using database = await fillPostgres(server.url, world, rows)
      await using target = await Target.start(database.url, world)
      await search(target, world, t)
    })
  }
})
