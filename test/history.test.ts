import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { databases } from './databases.ts'
import { run } from './history/run.ts'
import { planOf, plans } from './history/steps.ts'

/** The same seed makes the same steps; what happens between them is up to the machine. */
const seed = Number(process.env.KEELSON_TEST_SEED ?? Date.now() % 1_000_000)
/** For each database, with one server and with two. */
const count = Number(process.env.KEELSON_TEST_STEPS ?? 120)
const longestMs = 60_000 + count * 200
/** What fails is told in as few steps as can be found in this time. */
const shrinkingMs = 90_000

const shared = databases.filter(({ name }) => name !== 'memory')

describe('whoever listens holds what is true, whoever wrote it and whatever was killed', () => {
  for (const { name, missing, open } of shared) {
    for (const servers of [1, 2]) {
      test(`${name}, ${servers === 1 ? 'one server' : 'two servers'}`, options(missing), async (t) => {
        t.diagnostic(`KEELSON_TEST_SEED=${seed} KEELSON_TEST_STEPS=${count}`)
        const found = await search(t, { open, servers, steps: count, isBroken: false })
        if (found.failed) assert.fail(`${found.errorInstance}\n${fc.defaultReportMessage(found)}`)
      })
    }
  }
})

describe('is found out', () => {
  for (const { name, missing, open } of shared) {
    test(`${name}: a log whose order was broken on purpose`, options(missing), async (t) => {
      const found = await search(t, { open, servers: 1, steps: 100, isBroken: true })
      assert.ok(found.failed)
      t.diagnostic(String(found.errorInstance))
    })
  }
})

interface Search {
  readonly open: (typeof databases)[number]['open']
  readonly servers: number
  readonly steps: number
  readonly isBroken: boolean
}

/** One history, and when it fails the shortest that does. */
function search(t: TestContext, { open, servers, steps: length, isBroken }: Search) {
  const property = fc.asyncProperty(plans(length), async (plan) => {
    await using database = await open()
    t.diagnostic(JSON.stringify(await run(database.url, servers, plan, isBroken)))
  })
  return fc.check(property, {
    examples: [[planOf(seed, length)]],
    numRuns: 1,
    endOnFailure: isBroken,
    interruptAfterTimeLimit: longestMs + shrinkingMs,
  })
}

function options(missing: string | undefined) {
  return { skip: missing ?? false, timeout: longestMs + shrinkingMs + 30_000 }
}
