import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { databases } from '../support/databases.ts'
import { seed } from '../support/seed.ts'
import { planOf } from './history/steps.ts'
import { run } from './live-history/run.ts'

const count = Number(process.env.KEELSON_TEST_STEPS ?? 60)
const shared = databases.filter(({ name }) => name !== 'memory')

describe('at every position, the rows of every live query equal the query run at that position under its rules', () => {
  for (const { name, missing, open } of shared) {
    for (const servers of [1, 2]) {
      const options = { skip: missing ?? false, timeout: 120_000 + count * 200 }
      test(`${name}, ${servers === 1 ? 'one server' : 'two servers'}`, options, async (t) => {
        t.diagnostic(`KEELSON_TEST_SEED=${seed} KEELSON_TEST_STEPS=${count}`)
        await using database = await open()
        const history = await run(database.url, planOf(seed, count, true), { servers, seed })
        t.diagnostic(JSON.stringify(history))
        assert.ok(history.compared > 0)
        if (count >= 100) assert.ok(history.resets > 0, 'no client was given its rows anew')
      })
    }
  }
})

test('rows that are held in another order are found out', { timeout: 120_000 }, async () => {
  const [database] = shared
  await using opened = await (database ?? assert.fail()).open()
  const history = run(opened.url, planOf(7, 30, true), { servers: 1, seed: 7, isBroken: true })
  await assert.rejects(history, { name: 'AssertionError' })
})
