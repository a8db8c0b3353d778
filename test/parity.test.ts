import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { postgresDialect } from '../src/storage/postgres/dialect.ts'
import { sqliteDialect } from '../src/storage/sqlite/dialect.ts'
import { openStore } from '../src/storage/stores.ts'
import { defaultLimits } from '../src/support/limits.ts'
import { databases, type TestDatabase } from './databases.ts'
import { compare, load, type Subject } from './parity/compare.ts'
import { trial } from './parity/generate.ts'
import { models } from './parity/sample.ts'
import { mistakes, openWrong } from './parity/wrong.ts'

/** `KEELSON_PARITY_RUNS=5000` looks further; a failure prints the seed with which it is seen again. */
const runs = Number(process.env.KEELSON_PARITY_RUNS ?? 100)
const dialects = { memory: undefined, sqlite: sqliteDialect, postgres: postgresDialect() }

const property = (reference: Subject, subject: Subject) =>
  fc.asyncProperty(trial, async ({ rows, questions }) => {
    await load(reference, rows)
    await load(subject, rows)
    for (const question of questions) await compare(reference, subject, rows, question)
  })

const opened: (Subject & { readonly database: TestDatabase })[] = []

async function open(name: keyof typeof dialects): Promise<Subject> {
  const kind = databases.find((database) => database.name === name)
  assert.ok(kind)
  const database = await kind.open()
  const report = (error: unknown) => assert.fail(error as Error)
  const { store } = await openStore({ url: database.url, models, migrate: 'add', limits: defaultLimits, report })
  const dialect = dialects[name]
  opened.push({ name, store, database, ...(dialect && { dialect }) })
  return opened.at(-1) as Subject
}

after(async () => {
  for (const { store, database } of opened) {
    await store[Symbol.asyncDispose]()
    await database[Symbol.asyncDispose]()
  }
})

describe('every database answers as the reference does', () => {
  let memory: Subject
  before(async () => {
    memory = await open('memory')
  })
  for (const { name, missing } of databases) {
    if (name === 'memory') continue
    test(name, { skip: missing ?? false }, async () => {
      await fc.assert(property(memory, await open(name as 'sqlite' | 'postgres')), {
        numRuns: runs,
        includeErrorInReport: true,
      })
    })
  }
})

describe('the net has no hole: a database that is almost right is found out', () => {
  /** Fixed, so that a mistake that is found today is found tomorrow. */
  const seed = 20261121
  for (const mistake of mistakes) {
    test(mistake.name, async () => {
      const memory = await open('memory')
      const wrong = openWrong(mistake)
      const found = await fc.check(property(memory, wrong), { seed, numRuns: 400, endOnFailure: true })
      await wrong.store[Symbol.asyncDispose]()
      assert.ok(found.failed, 'no counterexample was found')
      assert.match(String(found.errorInstance), /does not answer as memory does/)
    })
  }

  test('and one that is right is not', async () => {
    const right = openWrong({ name: 'right' })
    const found = await fc.check(property(await open('memory'), right), { seed, numRuns: 40, endOnFailure: true })
    await right.store[Symbol.asyncDispose]()
    assert.equal(found.failed, false, String(found.errorInstance))
  })
})
