import { describe } from 'node:test'
import { databases } from '../support/databases.ts'
import { testHookMatrix } from './hooks/matrix.ts'

/* Hooks that fail, and hooks that never end: each test of the latter takes as long as a time limit, so that the databases are tested together. */

describe('hooks that do not succeed', { concurrency: databases.length }, () => {
  for (const database of databases) {
    describe(database.name, { concurrency: 1 }, () => {
      testHookMatrix(database, 'own', ['failure'])
      testHookMatrix(database, 'own', ['timeout'], { hookTimeoutMs: 300, transactionTimeoutMs: 700 })
    })
  }
})
