import { aroundWrites } from './around-writes.ts'
import type { SqlChangeLog } from './change-log.ts'
import { countReads } from './count-reads.ts'
import type { Driver } from './driver.ts'
import type { TableVersions } from './table-versions.ts'

/**
 * Versions where the database does not tell what other programs have changed: each ends after a time, and with every write of
 * this process. One counter for all tables: cascades and triggers of the database may change any.
 */
export class TimedVersions implements TableVersions {
  readonly isCurrent = false
  readonly #maxStaleMs: number
  #changes = 0

  constructor(maxStaleMs: number) {
    this.#maxStaleMs = maxStaleMs
  }

  of(): string {
    return `${this.#changes}.${Math.floor(performance.now() / this.#maxStaleMs)}`
  }

  readonly #count = (): void => {
    this.#changes++
  }

  /** A write counts before its caller knows its result, also one that failed: it may be committed all the same. */
  countWrites(driver: Driver): Driver {
    return aroundWrites(driver, (write) => write().finally(this.#count))
  }

  countReads(log: SqlChangeLog): void {
    countReads(log, this.#count)
  }
}
