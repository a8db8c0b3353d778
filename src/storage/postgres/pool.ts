import { DatabaseError } from '../driver.ts'
import type { Connection } from './connection.ts'

/** An idle connection is closed after this time: it is a process of the server's. */
const idleMs = 60_000

interface Waiting {
  resolve(connection: Connection): void
  reject(error: unknown): void
}

export interface PoolOptions {
  readonly open: () => Promise<Connection>
  readonly size: number
  /** How long somebody waits for a connection that others have. */
  readonly waitMs: number
}

/** Connections that one at a time has to itself. */
export class Pool {
  readonly #options: PoolOptions
  readonly #idle: { readonly connection: Connection; readonly sinceMs: number }[] = []
  readonly #used = new Set<Connection>()
  readonly #waiting = new Set<Waiting>()
  /** In use, being opened, or promised to somebody. */
  #taken = 0
  #isClosed = false
  #emptied: (() => void) | undefined

  constructor(options: PoolOptions) {
    this.#options = options
  }

  get connections(): readonly Connection[] {
    return [...this.#used, ...this.#idle.map(({ connection }) => connection)]
  }

  /** Throws 'busy' when none becomes free in time. */
  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.#acquire()
    try {
      return await work(connection)
    } finally {
      this.#release(connection)
    }
  }

  async #acquire(): Promise<Connection> {
    if (this.#isClosed) throw closed()
    if (this.#taken >= this.#options.size) return this.#wait()
    this.#taken++
    const idle = this.#takeIdle()
    if (idle === undefined) return this.#opened()
    this.#used.add(idle)
    return idle
  }

  #takeIdle(): Connection | undefined {
    for (let item = this.#idle.pop(); item !== undefined; item = this.#idle.pop()) {
      if (item.connection.failure === undefined) return item.connection
    }
  }

  /** For a place that is taken already. */
  async #opened(): Promise<Connection> {
    try {
      const connection = await this.#options.open()
      this.#used.add(connection)
      return connection
    } catch (error) {
      this.#leave()
      // Nobody is left who would hand a connection on.
      if (this.#used.size === 0) for (const { reject } of this.#waiting) reject(error)
      throw error
    }
  }

  #wait(): Promise<Connection> {
    const { waitMs } = this.#options
    const { promise, resolve, reject } = Promise.withResolvers<Connection>()
    const waiting = { resolve, reject }
    this.#waiting.add(waiting)
    const timer = setTimeout(() => {
      reject(new DatabaseError({ kind: 'busy' }, `No connection became free in ${waitMs} ms`))
    }, waitMs).unref()
    return promise.finally(() => {
      clearTimeout(timer)
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
        this.#opened().then(next.resolve, next.reject)
      }
      return
    }
    this.#used.delete(connection)
    if (connection.failure === undefined && !this.#isClosed) {
      this.#idle.push({ connection, sinceMs: performance.now() })
    } else void connection.close()
    this.#leave()
  }

  #leave(): void {
    this.#taken--
    if (this.#taken === 0) this.#emptied?.()
  }

  /** Where one connection was lost the idle ones are, too, and nobody has noticed yet. */
  renew(): void {
    for (const { connection } of this.#idle.splice(0)) void connection.close()
  }

  /** Closes what nobody has needed for a while. */
  sweep(): void {
    const oldest = performance.now() - idleMs
    while (this.#idle[0] !== undefined && this.#idle[0].sinceMs < oldest) void this.#idle.shift()?.connection.close()
  }

  /** Waits for those who have a connection, and refuses everybody else. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { reject } of this.#waiting) reject(closed())
    await Promise.all(this.#idle.splice(0).map(({ connection }) => connection.close()))
    if (this.#taken > 0) await new Promise<void>((resolve) => (this.#emptied = resolve))
  }
}

const closed = (): DatabaseError => new DatabaseError({ kind: 'lost' }, 'The store is closed')
