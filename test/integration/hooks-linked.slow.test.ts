import { describe } from 'node:test'
import { databases } from '../support/databases.ts'
import { testHookMatrix } from './hooks/matrix.ts'

/* As `hooks.slow.test.ts`, of records that a request changes with another one. */

describe('hooks of records that are changed with others', { concurrency: databases.length }, () => {
  for (const database of databases) {
    describe(database.name, { concurrency: 1 }, () => {
      testHookMatrix(database, 'linked', ['success', 'refusal', 'failure'])
      testHookMatrix(database, 'linked', ['timeout'], { hookTimeoutMs: 300, transactionTimeoutMs: 700 })
    })
  }
})
