import { DatabaseError } from '../../driver.ts'
import type { ReadOptions } from '../../store.ts'
import type { Connection } from './connection.ts'

/** An idle connection is closed after this time: it occupies a server process. */
const idleMs = 60_000

interface Waiting {
  resolve(connection: Connection): void
  reject(error: unknown): void
}

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
  readonly #waiting = new Set<Waiting>()
  /** In use, opening, or assigned to a waiter. */
  #taken = 0
  #isClosed = false
  #emptied: (() => void) | undefined

  constructor(options: PoolOptions) {
    this.#options = options
  }

  get connections(): readonly Connection[] {
    return [...this.#used, ...this.#idle.map(({ connection }) => connection)]
  }

  /** Throws `busy` when no connection becomes free within `waitMs`, and `aborted` when the signal is aborted first. */
  async use<T>(work: (connection: Connection) => Promise<T>, { signal }: ReadOptions = {}): Promise<T> {
    const connection = await this.#acquire(signal)
    try {
      if (signal?.aborted) throw aborted() // while the connection was opened
      return await work(connection)
    } finally {
      this.#release(connection)
    }
  }

  async #acquire(signal: AbortSignal | undefined): Promise<Connection> {
    if (this.#isClosed) throw closed()
    if (signal?.aborted) throw aborted()
    if (this.#taken >= this.#options.size) return this.#wait(signal)
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
      if (this.#used.size === 0) for (const { reject } of this.#waiting) reject(error)
      throw error
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<Connection> {
    const { waitMs } = this.#options
    const { promise, resolve, reject } = Promise.withResolvers<Connection>()
    const waiting = { resolve, reject }
    const abort = () => reject(aborted())
    signal?.addEventListener('abort', abort)
    this.#waiting.add(waiting)
    const timer = setTimeout(() => {
      reject(new DatabaseError({ kind: 'busy' }, `No connection became free within ${waitMs} ms`))
    }, waitMs).unref()
    return promise.finally(() => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      this.#waiting.delete(waiting)
    })
  }

  #release(connection: Connection): void {
    const [next] = this.#waiting
    if (next !== undefined) {
      this.#waiting.delete(next)
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
    for (const { reject } of this.#waiting) reject(closed())
    await Promise.all(this.#idle.splice(0).map(({ connection }) => connection.close()))
    if (this.#taken > 0) await new Promise<void>((resolve) => (this.#emptied = resolve))
  }
}

const aborted = (): DatabaseError => new DatabaseError({ kind: 'aborted' }, 'The read was aborted')
const closed = (): DatabaseError => new DatabaseError({ kind: 'lost' }, 'The store is closed')
