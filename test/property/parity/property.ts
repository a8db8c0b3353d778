import assert from 'node:assert/strict'
import { after } from 'node:test'
import fc from 'fast-check'
import { postgresDialect } from '../../../src/storage/postgres/dialect.ts'
import { sqliteDialect } from '../../../src/storage/sqlite/dialect.ts'
import { openStore } from '../../../src/storage/stores.ts'
import { defaultLimits } from '../../../src/support/limits.ts'
import type { DatabaseKind, TestDatabase } from '../../support/databases.ts'
import { compare, load, type Subject } from './compare.ts'
import { trial } from './generate.ts'
import { models } from './sample.ts'

const dialects = { memory: undefined, sqlite: sqliteDialect, postgres: postgresDialect() }

/** Random rows and queries get the same answers from both stores. */
export const sameAnswers = (reference: Subject, subject: Subject) =>
  fc.asyncProperty(trial, async ({ rows, questions }) => {
    await load(reference, rows)
    await load(subject, rows)
    for (const question of questions) await compare(reference, subject, rows, question)
  })

const opened: (Subject & { readonly database: TestDatabase })[] = []

/** A store over an empty database; closed after the tests of the file. */
export async function openSubject({ name, open }: DatabaseKind): Promise<Subject> {
  const database = await open()
  const onError = (error: unknown) => assert.fail(error as Error)
  const { store } = await openStore({ url: database.url, models, migrate: 'add', limits: defaultLimits, onError })
  const dialect = dialects[name as keyof typeof dialects]
  const subject = { name, store, database, ...(dialect && { dialect }) }
  opened.push(subject)
  return subject
}

after(async () => {
  for (const { store, database } of opened) {
    await store[Symbol.asyncDispose]()
    await database[Symbol.asyncDispose]()
  }
})
