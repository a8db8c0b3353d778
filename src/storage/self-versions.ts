import { aroundWrites } from './around-writes.ts'
import type { SqlChangeLog } from './change-log.ts'
import { countReads } from './count-reads.ts'
import type { Driver } from './driver.ts'
import type { RecordKey, TableVersions } from './table-versions.ts'

/** Whether this process is the only one that can write. */
export interface SoleWriter {
  /** Whether no other process writes. False while that is unknown, and while the last statement of a lost connection may still run. */
  readonly isAlone: boolean
  /**
   * Resolves when a previous process can no longer consider itself the only writer; this process writes nothing before.
   * Undefined: it may write now.
   */
  readonly mayWrite: Promise<void> | undefined
}

/**
 * Versions of tables that only this process writes. During a write they are undefined, because the change may be visible before
 * the write returns. One counter serves all tables, because cascades and triggers may change any of them.
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

  /** `others`: the versions of tables that other programs write as well. */
  constructor(tables: ReadonlySet<string>, writer: SoleWriter, others: TableVersions | undefined) {
    this.#tables = tables
    this.#writer = writer
    this.#others = others
  }

  of(tables: readonly string[], record?: RecordKey, isSeen?: boolean): string | undefined {
    if (!this.#isOwn(tables)) return this.#others?.of(tables, record, isSeen)
    return this.#writing > 0 || !this.#writer.isAlone ? undefined : `self ${this.#changes}`
  }

  /** Cached by the list itself: each plan passes the same list every time. */
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

  /** The number of writes that were begun; undefined while one is running. */
  get writes(): number | undefined {
    return this.#writing > 0 ? undefined : this.#writes
  }

  /**
   * Counts a write before its statement is sent, so that an earlier read belongs to an outdated version. Until the write has
   * ended, versions are undefined and nothing is cached.
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
