import { databases } from '../support/databases.ts'
import { testHookMatrix } from './hooks/matrix.ts'

/* Hooks of records that a request changes with another one. */

for (const database of databases) {
  testHookMatrix(database, 'linked', ['success', 'refusal', 'failure'])
  testHookMatrix(database, 'linked', ['timeout'], { hookTimeoutMs: 300, transactionTimeoutMs: 1_000 })
}
