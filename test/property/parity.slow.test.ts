import { before, describe, test } from 'node:test'
import fc from 'fast-check'
import { databases } from '../support/databases.ts'
import type { Subject } from './parity/compare.ts'
import { openSubject, sameAnswers } from './parity/property.ts'

/** `KEELSON_PARITY_RUNS=5000` searches longer; a failure prints the seed that reproduces it. */
const numRuns = Number(process.env.KEELSON_PARITY_RUNS ?? 100)

describe('every database answers like the memory reference', () => {
  let memory: Subject
  before(async () => {
    memory = await openSubject('memory')
  })
  for (const { name, missing } of databases) {
    if (name === 'memory') continue
    test(name, { skip: missing ?? false }, async () => {
      await fc.assert(sameAnswers(memory, await openSubject(name)), { numRuns, includeErrorInReport: true })
    })
  }
})
