import { databases } from '../support/databases.ts'
import { testHookMatrix } from './hooks/matrix.ts'

for (const database of databases) testHookMatrix(database, 'own', ['success', 'refusal'])
