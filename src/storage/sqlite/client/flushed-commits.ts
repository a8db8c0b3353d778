import fs from 'node:fs'
import { assertDefined } from '../../../support/assert.ts'
import type { MaybePromise } from '../../../support/maybe-promise.ts'
import { DatabaseError } from '../../driver.ts'
import type { Connection } from './connection.ts'

/** Thrown if `fdatasync` fails after a commit: the commit may or may not be on the disk. It is not rolled back. */
export class FlushFailed extends DatabaseError {
  constructor(error: NodeJS.ErrnoException) {
    super({ kind: error.code === 'ENOSPC' || error.code === 'EDQUOT' ? 'full' : 'damaged' }, error)
  }
}

/** If the disk is expected to take this long, another thread waits for it, which costs two switches between threads. */
const longMs = 4
/** If more bytes were written, another thread waits for the disk, however fast it is. */
const mostBytes = 100_000
/** The expected time is the longest one so far, reduced by this factor with each commit. */
const decay = 0.9

/**
 * Commits and flushes to the disk, with the guarantee of `synchronous = full`. If the disk is slow, `fdatasync` runs in another
 * thread, so that other requests are answered meanwhile. Until it has ended, reads see the state before the commit: no answer
 * contains a change that a power failure could undo.
 */
export class FlushedCommits implements Disposable {
  readonly #writing: Connection
  readonly #reading: () => Connection
  /** The file descriptor of the WAL. */
  #file: number | undefined
  #expectedMs = longMs
  /** Defined until the commit is on the disk. */
  flushing: Promise<void> | undefined

  /**
   * `path`: the WAL. `reading`: the connection that reads use now. Returns undefined if there is no WAL or it cannot be opened;
   * SQLite then flushes each commit itself.
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

  /** Throws FlushFailed after the commit, and errors of node:sqlite before it. `bytes`: approximately how many were written. */
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

  /** Commits, and waits for the disk in another thread. */
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
