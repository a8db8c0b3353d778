import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** More texts than the 123 slots that the lookaside memory of a connection has. */
const texts: readonly string[] = Array.from({ length: 128 }, () => 'a')

/**
 * Keeps the lookaside memory of a connection free for running statements. SQLite allocates short values there, which is faster
 * than the heap, but prepared statements keep what they have allocated. After about forty prepared statements the memory is full:
 * an update then needs 68 heap allocations instead of 16. `node:sqlite` has no setting for it, but a statement that is prepared
 * while the memory is occupied is placed on the heap.
 */
export class Lookaside {
  /** Binds `texts`, which occupies a slot for each of them. */
  readonly #taking: StatementSync

  constructor(database: DatabaseSync) {
    this.#taking = database.prepare(`select max(${texts.map(() => '?').join()}) limit 0`)
  }

  /** Runs `prepare` while the lookaside memory is occupied. */
  without<T>(prepare: () => T): T {
    // Not `run`: it returns the last key of the connection, and throws for one beyond 2^53.
    this.#taking.all(...texts)
    try {
      return prepare()
    } finally {
      this.#taking.all() // binds nothing, and gives all of it back
    }
  }
}
