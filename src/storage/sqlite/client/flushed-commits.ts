import fs from 'node:fs'
import { assertDefined } from '../../../support/assert.ts'
import type { MaybePromise } from '../../../support/maybe-promise.ts'
import { DatabaseError } from '../../driver.ts'
import type { Connection } from './connection.ts'

/** Thrown after a commit of which it is not known whether the disk has it. Nothing is undone. */
export class FlushFailed extends DatabaseError {
  constructor(error: NodeJS.ErrnoException) {
    super({ kind: error.code === 'ENOSPC' || error.code === 'EDQUOT' ? 'full' : 'lost' }, error)
  }
}

/** A disk that has taken this long is not waited for on this thread. To ask another one takes two switches between threads. */
const longMs = 4
/** Nor is it for more bytes than these. */
const mostBytes = 100_000
/** The time that is expected of the disk falls by this factor with each commit, from the longest that it has taken. */
const decay = 0.9

/**
 * Commits, and brings them to the disk, as `synchronous = full` does. Where the disk takes its time, `fdatasync` runs in another
 * thread, and others are answered meanwhile. They read the state before, so that no answer contains what a power failure could
 * undo.
 */
export class FlushedCommits implements Disposable {
  readonly #writing: Connection
  readonly #reading: () => Connection
  /** Of the write-ahead log. */
  #file: number | undefined
  #expectedMs = longMs
  /** Defined until the commit is on the disk. */
  flushing: Promise<void> | undefined

  /**
   * `path`: the write-ahead log. `reading`: the connection that reads use now. Undefined where there is no such log, or it cannot be
   * opened: then SQLite waits for the disk.
   */
  static open(path: string, writing: Connection, reading: () => Connection): FlushedCommits | undefined {
    if (writing.all('pragma journal_mode', [])[0]?.[0] !== 'wal') return undefined
    let file: number
    try {
      file = fs.openSync(path, 'r+')
    } catch {
      return undefined
    }
    writing.exec('pragma synchronous = normal')
    return new FlushedCommits(file, writing, reading)
  }

  private constructor(file: number, writing: Connection, reading: () => Connection) {
    this.#file = file
    this.#writing = writing
    this.#reading = reading
  }

  /**
   * Throws FlushFailed after the commit, and the errors of node:sqlite before it. `bytes`: about as many were written.
   */
  commit(bytes: number): MaybePromise<void> {
    if (bytes > mostBytes || this.#expectedMs >= longMs) return this.#commitInTurns()
    this.#writing.exec('commit')
    const begun = performance.now()
    try {
      fs.fdatasyncSync(assertDefined(this.#file, 'an open file'))
    } catch (error) {
      throw new FlushFailed(error as NodeJS.ErrnoException)
    }
    this.#learn(begun)
  }

  /** The disk is waited for in another thread. */
  async #commitInTurns(): Promise<void> {
    const reading = this.#reading()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.flushing = promise
    try {
      reading.hold()
      this.#writing.exec('commit')
      await this.#flush()
    } finally {
      reading.release()
      this.flushing = undefined
      resolve()
    }
  }

  #flush(): Promise<void> {
    const file = assertDefined(this.#file, 'an open file')
    const begun = performance.now()
    return new Promise((resolve, reject) =>
      fs.fdatasync(file, (error) => {
        this.#learn(begun)
        if (error) reject(new FlushFailed(error))
        else resolve()
      }),
    )
  }

  #learn(begun: number): void {
    this.#expectedMs = Math.max(performance.now() - begun, this.#expectedMs * decay)
  }

  /** Resolves when what was committed by now is on the disk. */
  async settled(): Promise<void> {
    while (this.flushing) await this.flushing
  }

  [Symbol.dispose](): void {
    if (this.#file !== undefined) fs.closeSync(this.#file)
    this.#file = undefined
  }
}
