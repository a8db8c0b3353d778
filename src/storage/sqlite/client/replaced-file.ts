import { statSync } from 'node:fs'
import { withoutStack } from '../../../support/without-stack.ts'
import { DatabaseError } from '../../driver.ts'

const intervalMs = 200

/**
 * SQLite does not notice that its file was deleted or replaced by a backup: it continues with the open file, which no other
 * program can open any more. `changed` is called with an error when that happens, and without one when the original file is back.
 */
export class ReplacedFileWatch implements Disposable {
  readonly #path: string
  readonly #opened: string | undefined
  readonly #changed: (error: DatabaseError | undefined) => void
  readonly #timer: NodeJS.Timeout
  #isReplaced = false

  /** The file is open. */
  constructor(path: string, changed: (error: DatabaseError | undefined) => void) {
    this.#path = path
    this.#opened = identityOf(path)
    this.#changed = changed
    this.#timer = setInterval(() => this.#look(), intervalMs).unref()
  }

  #look(): void {
    let isReplaced: boolean
    try {
      isReplaced = identityOf(this.#path) !== this.#opened
    } catch {
      // A folder above it cannot be read now. The open file can.
      return
    }
    if (isReplaced === this.#isReplaced) return
    this.#isReplaced = isReplaced
    this.#changed(isReplaced ? replaced(this.#path) : undefined)
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

function replaced(path: string): DatabaseError {
  const message = `${path} was deleted or replaced while it is open; writes get 503. Stop the service, delete ${path}-wal and ${path}-shm, which do not belong to another file, and start it again`
  return withoutStack(new DatabaseError({ kind: 'replaced' }, message))
}
