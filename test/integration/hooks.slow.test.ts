import { databases } from '../support/databases.ts'
import { testHookMatrix } from './hooks/matrix.ts'

/* Hooks that fail, and hooks that never end: each test of the latter takes as long as a time limit. */

for (const database of databases) {
  testHookMatrix(database, 'own', ['failure'])
  testHookMatrix(database, 'own', ['timeout'], { hookTimeoutMs: 300, transactionTimeoutMs: 1_000 })
}
