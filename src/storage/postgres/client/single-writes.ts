import type { Row } from '../../driver.ts'
import { isConflict, isOverdue, isStale } from '../errors.ts'
import type { Connection } from './connection.ts'
import type { LockWaits } from './lock-waits.ts'
import { idlest, type PipelinedConnection, sendOn } from './pipelined-connection.ts'
import type { QueryRequest } from './text-query.ts'
import { pause } from './transact.ts'

const maxAttempts = 6

interface RowInUse {
  readonly connection: PipelinedConnection
  writes: number
}

/** Writes of one statement, each a transaction of its own. */
export class SingleWrites {
  readonly #connections: readonly PipelinedConnection[]
  readonly #locks: LockWaits
  readonly #rows = new Map<string, RowInUse>()

  constructor(connections: readonly PipelinedConnection[], locks: LockWaits) {
    this.#connections = connections
    this.#locks = locks
  }

  /** Repeats a write only when the server reports that it was not executed. `row`: the only one that it changes. */
  async run(request: QueryRequest, row: string | undefined): Promise<readonly Row[]> {
    let isPatient = false
    for (let attempt = 1; ; attempt++) {
      if (row !== undefined && this.#locks.has(row)) {
        await this.#locks.follow(row)
        isPatient = false
      }
      try {
        return await (isPatient ? this.#wait(request, row) : this.#send(request, row))
      } catch (error) {
        if (attempt === maxAttempts) throw error
        if (!isPatient && isOverdue(error)) isPatient = true
        else if (isConflict(error)) await pause(attempt)
        else if (!isStale(error)) throw error
      }
    }
  }

  #wait(request: QueryRequest, row: string | undefined): Promise<readonly Row[]> {
    const wait = (connection: Connection) => connection.run(request)
    return row === undefined ? this.#locks.alone(wait) : this.#locks.lead(row, wait)
  }

  /** Writes of one row follow each other on one connection: on several, each would wait for the lock of another. */
  #send(request: QueryRequest, row: string | undefined): Promise<readonly Row[]> {
    if (row === undefined) return sendOn(idlest(this.#connections), request)
    const inUse = this.#rows.get(row) ?? { connection: idlest(this.#connections), writes: 0 }
    if (inUse.writes++ === 0) this.#rows.set(row, inUse)
    return sendOn(inUse.connection, request).finally(() => {
      if (--inUse.writes === 0) this.#rows.delete(row)
    })
  }
}
