import { DatabaseError } from '../../driver.ts'
import type { Connection } from './connection.ts'

const firstPauseMs = 50
const longestPauseMs = 2_000

/**
 * Delays connection attempts after two failures. Without it, every request would try to connect while the server is down.
 * Between attempts the last error is thrown.
 */
export function withReconnectBackoff(open: () => Promise<Connection>): () => Promise<Connection> {
  let failures = 0
  let notBeforeMs = 0
  let last: DatabaseError | undefined
  return async () => {
    if (last !== undefined && performance.now() < notBeforeMs) throw last
    try {
      const connection = await open()
      failures = 0
      last = undefined
      return connection
    } catch (error) {
      last = error instanceof DatabaseError ? error : new DatabaseError({ kind: 'lost' }, error)
      failures++
      const pauseMs = failures === 1 ? 0 : Math.min(firstPauseMs * 2 ** (failures - 2), longestPauseMs)
      notBeforeMs = performance.now() + pauseMs
      throw last
    }
  }
}
