import { aroundWrites } from './around-writes.ts'
import type { SqlChangeLog } from './change-log.ts'
import { countReads } from './count-reads.ts'
import type { Driver } from './driver.ts'
import type { RecordKey, TableVersions } from './table-versions.ts'

/** Whether this process is the only one that can write. */
export interface SoleWriter {
  /**
   * False as well while it is not known, and while a connection that wrote is lost and its last statement may still be
   * executed.
   */
  readonly isAlone: boolean
  /** Until then, another process may take itself for the only writer. Undefined: it cannot. */
  readonly mayWrite: Promise<void> | undefined
}

/**
 * Versions of tables that only this process writes. While it writes, they have none: the change may be visible before its
 * writer is answered. One counter for all tables: cascades and triggers of the database may change any.
 */
export class SelfVersions implements TableVersions {
  readonly isCurrent = false
  readonly #tables: ReadonlySet<string>
  readonly #writer: SoleWriter
  readonly #others: TableVersions | undefined
  readonly #areOwn = new WeakMap<readonly string[], boolean>()
  #changes = 0
  #writing = 0
  #writes = 0

  /** `others`: of tables that other programs write as well. */
  constructor(tables: ReadonlySet<string>, writer: SoleWriter, others: TableVersions | undefined) {
    this.#tables = tables
    this.#writer = writer
    this.#others = others
  }

  of(tables: readonly string[], record?: RecordKey, isSeen?: boolean): string | undefined {
    if (!this.#isOwn(tables)) return this.#others?.of(tables, record, isSeen)
    return this.#writing > 0 || !this.#writer.isAlone ? undefined : `self ${this.#changes}`
  }

  /** The list is that of one plan, each time. */
  #isOwn(tables: readonly string[]): boolean {
    let isOwn = this.#areOwn.get(tables)
    if (isOwn === undefined) {
      isOwn = tables.every((table) => this.#tables.has(table))
      this.#areOwn.set(tables, isOwn)
    }
    return isOwn
  }

  readonly count = (): void => {
    this.#changes++
  }

  /** How many writes were begun, if each has ended. */
  get writes(): number | undefined {
    return this.#writing > 0 ? undefined : this.#writes
  }

  /**
   * A write counts before its statement is sent: what was read before it belongs to a version that has ended. Nothing is kept
   * until its result is known.
   */
  countWrites(driver: Driver): Driver {
    return aroundWrites(driver, (write) => this.#write(write))
  }

  async #write<T>(write: () => Promise<T>): Promise<T> {
    if (this.#writer.mayWrite) await this.#writer.mayWrite
    this.#writing++
    this.#writes++
    this.count()
    try {
      return await write()
    } finally {
      this.#writing--
    }
  }

  countReads(log: SqlChangeLog): void {
    countReads(log, this.count)
  }
}
