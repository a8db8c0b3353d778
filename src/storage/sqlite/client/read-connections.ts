import { Connection } from './connection.ts'
import type { RowGuard } from './row-guard.ts'

/** Snapshots that wait at once, each with a connection of its own; further ones begin when one of them has ended. */
const maxWaiting = 8

/** The read-only connections of this process to one file. One serves all reads, but for snapshots that wait. */
export class ReadConnections implements Disposable {
  readonly #path: string
  readonly #guard: RowGuard
  readonly #isWriting: () => boolean
  readonly #all: Connection[] = []
  readonly #free: Connection[] = []
  #used = 0
  #given: PromiseWithResolvers<void> | undefined

  constructor(path: string, guard: RowGuard, isWriting: () => boolean) {
    this.#path = path
    this.#guard = guard
    this.#isWriting = isWriting
  }

  /** Defined while no further snapshot may begin. */
  get waiting(): Promise<void> | undefined {
    if (this.#used <= maxWaiting) return undefined
    this.#given ??= Promise.withResolvers()
    return this.#given.promise
  }

  take(): Connection {
    this.#used++
    return this.#free.pop() ?? this.#open()
  }

  #open(): Connection {
    const connection = new Connection(this.#path, { readOnly: true, isWriting: this.#isWriting })
    this.#guard.install(connection)
    this.#all.push(connection)
    return connection
  }

  give(connection: Connection): void {
    connection.endShared()
    this.#used--
    this.#free.push(connection)
    this.#given?.resolve()
    this.#given = undefined
  }

  [Symbol.dispose](): void {
    for (const connection of this.#all) connection[Symbol.dispose]()
  }
}
