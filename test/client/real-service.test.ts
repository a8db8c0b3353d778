import { databases } from '../support/databases.ts'
import { testHistories } from './real-service/history.ts'

/* More histories, on each database, are in `real-service.slow.test.ts`. */
for (const kind of databases) if (kind.name === 'sqlite') testHistories(kind, 2)
