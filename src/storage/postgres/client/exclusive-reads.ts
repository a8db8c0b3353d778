import { DatabaseError, type Row } from '../../driver.ts'
import type { ReadOptions } from '../../store.ts'
import { isLarge, isLost } from '../errors.ts'
import type { Connection } from './connection.ts'
import type { Pool } from './pool.ts'
import type { QueryRequest } from './text-query.ts'

/** Ends what a connection runs when the signal is aborted, until it is disposed. */
export type CancelOnAbort = (connection: Connection, options: ReadOptions) => AsyncDisposable

/** Reads that have a connection of a pool for themselves, where they delay no other. */
export class ExclusiveReads {
  readonly #pool: Pool
  readonly #cancelOnAbort: CancelOnAbort

  constructor(pool: Pool, cancelOnAbort: CancelOnAbort) {
    this.#pool = pool
    this.#cancelOnAbort = cancelOnAbort
  }

  async read(
    request: QueryRequest,
    options: ReadOptions = {},
    sent: (connection: Connection) => void = () => {},
  ): Promise<readonly Row[]> {
    const run = (): Promise<readonly Row[]> =>
      this.#pool.use(async (connection) => {
        await using _ = this.#cancelOnAbort(connection, options)
        const rows = connection.run(request)
        sent(connection)
        return await rows.catch((error) => {
          // The server would go on to send the rows.
          if (isLarge(error)) connection.destroy(error)
          throw error
        })
      }, options)
    try {
      return await run()
    } catch (error) {
      if (options.signal?.aborted) throw new DatabaseError({ kind: 'aborted' }, error)
      if (!isLost(error)) throw error
      this.#pool.discardIdle()
      return run()
    }
  }
}
