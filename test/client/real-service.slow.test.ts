import { databases } from '../support/databases.ts'
import { testHistories } from './real-service/history.ts'

for (const kind of databases) testHistories(kind, 6)
