import { DatabaseError } from '../../driver.ts'
import type { ReadOptions } from '../../store.ts'
import { abortedRead, WaitQueue } from '../../wait-queue.ts'
import type { Connection } from './connection.ts'

/** An idle connection is closed after this time: it occupies a server process. */
const idleMs = 60_000

export interface PoolOptions {
  readonly open: () => Promise<Connection>
  readonly size: number
  /** Longest wait for a free connection. */
  readonly waitMs: number
}

/** A pool of exclusive connections. */
export class Pool {
  readonly #options: PoolOptions
  readonly #idle: { readonly connection: Connection; readonly sinceMs: number }[] = []
  readonly #used = new Set<Connection>()
  readonly #waiting: WaitQueue<Connection>
  /** In use, opening, or assigned to a waiter. */
  #taken = 0
  #isClosed = false
  #emptied: (() => void) | undefined

  constructor(options: PoolOptions) {
    this.#options = options
    this.#waiting = new WaitQueue('connection', options.waitMs)
  }

  get connections(): readonly Connection[] {
    return [...this.#used, ...this.#idle.map(({ connection }) => connection)]
  }

  /** Throws `busy` when no connection becomes free within `waitMs`, and `aborted` when the signal is aborted first. */
  async use<T>(work: (connection: Connection) => Promise<T>, { signal }: ReadOptions = {}): Promise<T> {
    const connection = await this.#acquire(signal)
    try {
      if (signal?.aborted) throw abortedRead() // while the connection was opened
      return await work(connection)
    } finally {
      this.#release(connection)
    }
  }

  async #acquire(signal: AbortSignal | undefined): Promise<Connection> {
    if (this.#isClosed) throw closed()
    if (signal?.aborted) throw abortedRead()
    if (this.#taken >= this.#options.size) return this.#waiting.wait({ signal })
    this.#taken++
    const idle = this.#takeIdle()
    if (idle === undefined) return this.#openInSlot()
    this.#used.add(idle)
    return idle
  }

  #takeIdle(): Connection | undefined {
    for (let item = this.#idle.pop(); item !== undefined; item = this.#idle.pop()) {
      if (item.connection.failure === undefined) return item.connection
    }
  }

  /** Opens a connection in a slot that is counted already. */
  async #openInSlot(): Promise<Connection> {
    try {
      const connection = await this.#options.open()
      this.#used.add(connection)
      return connection
    } catch (error) {
      this.#freeSlot()
      // No used connection is left that could be handed over.
      if (this.#used.size === 0) this.#waiting.rejectAll(error)
      throw error
    }
  }

  #release(connection: Connection): void {
    const next = this.#waiting.take()
    if (next !== undefined) {
      if (connection.failure === undefined) next.resolve(connection)
      else {
        this.#used.delete(connection)
        this.#openInSlot().then(next.resolve, next.reject)
      }
      return
    }
    this.#used.delete(connection)
    if (connection.failure === undefined && !this.#isClosed) {
      this.#idle.push({ connection, sinceMs: performance.now() })
    } else void connection.close()
    this.#freeSlot()
  }

  #freeSlot(): void {
    this.#taken--
    if (this.#taken === 0) this.#emptied?.()
  }

  /** Closes idle connections after one connection was lost: they are probably lost too. */
  discardIdle(): void {
    for (const { connection } of this.#idle.splice(0)) void connection.close()
  }

  /** Closes connections that were idle too long. */
  sweep(): void {
    const oldest = performance.now() - idleMs
    while (this.#idle[0] !== undefined && this.#idle[0].sinceMs < oldest) void this.#idle.shift()?.connection.close()
  }

  /** Waits for used connections and rejects waiters. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#waiting.rejectAll(closed())
    await Promise.all(this.#idle.splice(0).map(({ connection }) => connection.close()))
    if (this.#taken > 0) await new Promise<void>((resolve) => (this.#emptied = resolve))
  }
}

const closed = (): DatabaseError => new DatabaseError({ kind: 'lost' }, 'The store is closed')
