import { createHash } from 'node:crypto'
import type { Query } from '../driver.ts'
import type { JobLocks } from '../sql-job-store.ts'
import type { Connection } from './client/connection.ts'

/**
 * Advisory locks of one connection: the server releases them when the connection ends, however the process ended. When it
 * is lost, all of its locks are lost.
 */
export class AdvisoryLocks implements JobLocks {
  readonly #open: () => Promise<Connection>
  readonly #schema: string
  readonly #taken = new Set<string>()
  #connection: Promise<Connection> | undefined
  #isClosed = false

  constructor(open: () => Promise<Connection>, schema: string) {
    this.#open = open
    this.#schema = schema
  }

  async take(name: string): Promise<boolean> {
    if (this.#isClosed) return false
    const connection = await this.#connected()
    // A lock of a session is counted: taken twice it would have to be released twice.
    if (this.#taken.has(name)) return true
    const [row] = await connection.run({
      text: 'select pg_try_advisory_lock($1::bigint)',
      values: [lockKey(this.#schema, name)],
      how: 'kept',
    })
    if (row?.[0] !== 't') return false
    this.#taken.add(name)
    return true
  }

  async areHeld(): Promise<boolean> {
    if (!this.#connection) return false
    try {
      await (await this.#connection).run({ text: 'select 1', values: [], how: 'kept' })
      return true
    } catch {
      await this.#disconnect()
      return false
    }
  }

  async release(name: string): Promise<void> {
    if (!this.#taken.delete(name) || !this.#connection) return
    const connection = await this.#connection
    if (connection.failure) return
    await connection.run({
      text: 'select pg_advisory_unlock($1::bigint)',
      values: [lockKey(this.#schema, name)],
      how: 'kept',
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#disconnect()
  }

  async #connected(): Promise<Connection> {
    const known = await this.#connection?.catch(() => undefined)
    if (known && known.failure === undefined) return known
    await this.#disconnect()
    this.#connection = this.#open()
    return this.#connection
  }

  async #disconnect(): Promise<void> {
    const connection = await this.#connection?.catch(() => undefined)
    this.#connection = undefined
    this.#taken.clear()
    if (connection?.failure === undefined) await connection?.close()
  }
}

/**
 * Whether another process has the lock of a name. For processes whose connections do not keep locks; theirs ends with the
 * transaction.
 */
export async function isLocked(query: Query, schema: string, name: string): Promise<boolean> {
  const [row] = await query('select pg_try_advisory_xact_lock($1::bigint)', [lockKey(schema, name)])
  return row?.[0] !== 't'
}

function lockKey(schema: string, name: string): string {
  const hash = createHash('sha256').update(`keelson job ${schema} ${name}`).digest()
  return String(hash.readBigInt64BE())
}
