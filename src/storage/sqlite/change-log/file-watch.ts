import { type FSWatcher, watch } from 'node:fs'

/** A write to the file mostly precedes its commit, which waits for the disk: delays of the repeated checks. */
const checkDelaysMs = [0, 1, 2, 4, 8, 16] as const
/** For files that cannot be watched, and for notifications that the system drops. */
const pollMs = 200

/**
 * Calls `check` soon after another program writes to the file, at most about fifty times a second.
 */
export class FileWatch implements Disposable {
  readonly #path: string
  readonly #check: () => void
  readonly #poll: NodeJS.Timeout
  #watcher: FSWatcher | undefined
  #next: NodeJS.Timeout | undefined

  /** `path`: the WAL. `check` is called from timers and must not throw. */
  constructor(path: string, check: () => void) {
    this.#path = path
    this.#check = check
    this.#poll = setInterval(() => this.#pollOnce(), pollMs).unref()
    this.#watch()
  }

  #pollOnce(): void {
    if (!this.#watcher && !this.#next) this.#watch()
    this.#check()
  }

  #watch(): void {
    try {
      this.#watcher = watch(this.#path, { persistent: false }, () => this.#noticed())
      this.#watcher.on('error', () => this.#unwatch())
    } catch {
      // Missing or not watchable; the next poll tries again.
    }
  }

  /** Unwatched during the checks: a fast writer would cause a notification for each page. */
  #noticed(): void {
    this.#unwatch()
    this.#checkFrom(0)
  }

  #checkFrom(index: number): void {
    this.#next = setTimeout(() => {
      this.#next = undefined
      const isLast = index === checkDelaysMs.length - 1
      if (isLast) this.#watch() // before the check, so that no write is missed in between
      this.#check()
      if (!isLast) this.#checkFrom(index + 1)
    }, checkDelaysMs[index]).unref()
  }

  #unwatch(): void {
    this.#watcher?.close()
    this.#watcher = undefined
  }

  [Symbol.dispose](): void {
    clearInterval(this.#poll)
    clearTimeout(this.#next)
    this.#unwatch()
  }
}
