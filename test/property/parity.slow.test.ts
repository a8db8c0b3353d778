import { before, describe, test } from 'node:test'
import fc from 'fast-check'
import { databaseNamed, databases } from '../support/databases.ts'
import type { Subject } from './parity/compare.ts'
import { openSubject, sameAnswers } from './parity/property.ts'

/** `KEELSON_PARITY_RUNS=5000` searches longer; a failure prints the seed that reproduces it. */
const numRuns = Number(process.env.KEELSON_PARITY_RUNS ?? 100)

describe('every database answers like the memory reference', () => {
  let memory: Subject
  before(async () => {
    memory = await openSubject(databaseNamed('memory'))
  })
  for (const database of databases) {
    if (database.name === 'memory') continue
    test(database.name, { skip: database.missing ?? false }, async () => {
      await fc.assert(sameAnswers(memory, await openSubject(database)), { numRuns, includeErrorInReport: true })
    })
  }
})
