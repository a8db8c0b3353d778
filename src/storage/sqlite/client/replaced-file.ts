import { statSync } from 'node:fs'
import { withoutStack } from '../../../support/without-stack.ts'
import { DatabaseError } from '../../driver.ts'
import { shmPath, walPath } from './wal-path.ts'

const intervalMs = 200

/**
 * SQLite does not notice that its file was deleted or replaced by a backup, or that a file beside it was deleted: it continues with
 * the open ones, which no other program can open any more. `changed` is called with an error when that happens, and without one
 * when the original file is back.
 */
export class ReplacedFileWatch implements Disposable {
  readonly #path: string
  /** The identities of the open files by their paths. */
  readonly #opened = new Map<string, string | undefined>()
  readonly #changed: (error: DatabaseError | undefined) => void
  readonly #timer: NodeJS.Timeout
  #replaced: string | undefined

  /** The file is open. */
  constructor(path: string, changed: (error: DatabaseError | undefined) => void) {
    this.#path = path
    this.#opened.set(path, identityOf(path))
    this.#changed = changed
    this.#timer = setInterval(() => this.#look(), intervalMs).unref()
  }

  /** The WAL and its index are open as well, and stay until the last connection is closed. */
  watchWal(): void {
    for (const path of [walPath(this.#path), shmPath(this.#path)]) {
      const identity = identityOf(path)
      if (identity !== undefined) this.#opened.set(path, identity)
    }
  }

  #look(): void {
    let replaced: string | undefined
    try {
      for (const [path, identity] of this.#opened) if (identityOf(path) !== identity) replaced ??= path
    } catch {
      // A folder above it cannot be read now. The open file can.
      return
    }
    if (replaced === this.#replaced) return
    this.#replaced = replaced
    this.#changed(replaced === undefined ? undefined : this.#error(replaced))
  }

  #error(replaced: string): DatabaseError {
    const path = this.#path
    const message =
      replaced === path
        ? `${path} was deleted or replaced while it is open; writes get 503. Stop the service, delete ${path}-wal and ${path}-shm, which do not belong to another file, and start it again`
        : `${replaced} was deleted or replaced while it is open; writes get 503, because they would be lost. Stop the service without killing it, and without opening ${path} by another program before: the stop moves what was written into ${path}. Then start it again`
    return withoutStack(new DatabaseError({ kind: 'replaced' }, message))
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}

/** Identifies the file that currently has this path. */
function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats && `${stats.dev}:${stats.ino}`
}
