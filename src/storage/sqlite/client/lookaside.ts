import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** One for each of the 123 pieces of memory that a connection has. */
const texts: readonly string[] = Array.from({ length: 128 }, () => 'a')

/**
 * A connection of SQLite has some memory of its own for short values, which takes less time than the heap, and prepared statements
 * keep what they took of it. After about forty of them nothing is left for those that run: an update then allocates 68 times instead
 * of 16. `node:sqlite` has no setting for it, but a statement that is prepared while all of it is taken is placed in the heap.
 */
export class Lookaside {
  /** Takes a piece for each text that is bound to it. */
  readonly #taking: StatementSync

  constructor(database: DatabaseSync) {
    this.#taking = database.prepare(`select max(${texts.map(() => '?').join()}) limit 0`)
  }

  /** Runs `prepare` while all of it is taken. */
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
