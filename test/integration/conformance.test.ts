import { databases } from '../support/databases.ts'
import { testConformance } from './conformance/test-conformance.ts'
import { inProcess, overHttp, overSockets } from './conformance/transports.ts'

/* Each database and each transport once; the other combinations are in `conformance.slow.test.ts`. */
for (const database of databases) {
  if (database.name === 'memory') testConformance(database, [overSockets])
  if (database.name === 'sqlite') testConformance(database, [overHttp])
  if (database.name === 'postgres') testConformance(database, [inProcess])
}
