import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { databases } from '../support/databases.ts'
import { seed } from '../support/seed.ts'
import { run, type Settings } from './history/run.ts'
import { planOf, plans } from './history/steps.ts'

/** For each database, with one server and with two. */
const count = Number(process.env.KEELSON_TEST_STEPS ?? 60)
const longestMs = 60_000 + count * 200
/** A planted fault is looked for in so many histories: not each of them meets it. */
const mostPlansForFault = 40
/** What fails is received in as few steps as can be found in this time. */
const shrinkingMs = 90_000

const shared = databases.filter(({ name }) => name !== 'memory')

describe('the records of every listener equal the tables, whichever program writes and whatever is killed', () => {
  for (const { name, missing, open } of shared) {
    for (const servers of [1, 2]) {
      test(`${name}, ${servers === 1 ? 'one server' : 'two servers'}`, options(missing), async (t) => {
        t.diagnostic(`KEELSON_TEST_SEED=${seed} KEELSON_TEST_STEPS=${count}`)
        const found = await search(t, { open, servers, steps: count, isRuled: false })
        if (found.failed) assert.fail(`${found.errorInstance}\n${fc.defaultReportMessage(found)}`)
      })
    }
  }
})

describe('the records of every user equal its query under its rules', () => {
  for (const { name, missing, open } of shared) {
    for (const servers of [1, 2]) {
      test(`${name}, ${servers === 1 ? 'one server' : 'two servers'}`, options(missing), async (t) => {
        t.diagnostic(`KEELSON_TEST_SEED=${seed} KEELSON_TEST_STEPS=${count}`)
        const found = await search(t, { open, servers, steps: count, isRuled: true })
        if (found.failed) assert.fail(`${found.errorInstance}\n${fc.defaultReportMessage(found)}`)
      })
    }
  }
})

describe('is found out', () => {
  for (const { name, missing, open } of shared) {
    for (const [what, isRuled, fault] of [
      ['a log whose order was broken on purpose', false, 'the order of the log'],
      ['a record that stays when it is no longer readable', true, 'events of leaving'],
      ['an answer that is kept though it is old', false, 'kept answers that miss commits'],
    ] as const) {
      // On other databases no answer is kept.
      if (fault === 'kept answers that miss commits' && name !== 'sqlite') continue
      test(`${name}: ${what}`, options(missing), async (t) => {
        const found = await search(t, { open, servers: 1, steps: 150, isRuled, fault })
        assert.ok(found.failed)
        if (fault === 'kept answers that miss commits')
          assert.match(String(found.errorInstance), /the service of this process, /)
        if (isRuled) assert.match(String(found.errorInstance), / is undefined, and held was /)
        t.diagnostic(String(found.errorInstance))
      })
    }
  }
})

interface Search extends Settings {
  readonly open: (typeof databases)[number]['open']
  readonly steps: number
}

/** One history, and when it fails the shortest that does. */
function search(t: TestContext, { open, steps: length, ...settings }: Search) {
  const { isRuled, fault } = settings
  const property = fc.asyncProperty(plans(length, isRuled), async (plan) => {
    await using database = await open()
    t.diagnostic(JSON.stringify(await run(database.url, plan, settings)))
  })
  const plansToRun = fault === undefined ? 1 : mostPlansForFault
  return fc.check(property, {
    examples: Array.from({ length: plansToRun }, (_, i) => [planOf(seed + i, length, isRuled)]),
    numRuns: plansToRun,
    endOnFailure: fault !== undefined,
    interruptAfterTimeLimit: longestMs + shrinkingMs,
  })
}

function options(missing: string | undefined) {
  return { skip: missing ?? false, timeout: longestMs + shrinkingMs + 30_000 }
}
