import { describe } from 'node:test'
import { databases } from '../support/databases.ts'
import { testEvents } from './sockets/test-events.ts'
import { testSubscriptions } from './sockets/test-subscriptions.ts'

/* The combinations that `sockets.test.ts` leaves out. */
for (const database of databases) {
  const { name, missing } = database
  if (name === 'sqlite') continue
  describe(`a socket, on ${name},`, { skip: missing ?? false }, () => {
    testSubscriptions(database)
    if (name === 'memory') testEvents(database)
  })
}
