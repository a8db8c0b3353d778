import { databases } from '../support/databases.ts'
import { testConformance } from './conformance/test-conformance.ts'
import { inProcess, overFetch, overHttp, overSockets } from './conformance/transports.ts'

/* The combinations that `conformance.test.ts` leaves out. */
for (const database of databases) {
  if (database.name === 'memory') testConformance(database, [overHttp, overFetch, inProcess])
  if (database.name === 'sqlite') testConformance(database, [overFetch, overSockets, inProcess])
  if (database.name === 'postgres') testConformance(database, [overHttp, overFetch, overSockets])
}
