import { type FSWatcher, watch } from 'node:fs'

/** What is written to the file is not committed yet, mostly: the disk has to confirm it first. Looked again after so long. */
const looksMs = [0, 1, 2, 4, 8, 16] as const
/** Where files cannot be watched, as on network drives, and for what the system forgets to say. */
const pollMs = 200

/**
 * Looks whether another program has committed, soon after it wrote to the file; at full rate some fifty times a second,
 * however much is written.
 */
export class FileWatch implements Disposable {
  readonly #path: string
  readonly #look: () => void
  readonly #poll: NodeJS.Timeout
  #watcher: FSWatcher | undefined
  #next: NodeJS.Timeout | undefined

  /** `path`: where SQLite writes ahead. `look` is called from timers, and must not throw. */
  constructor(path: string, look: () => void) {
    this.#path = path
    this.#look = look
    this.#poll = setInterval(() => this.#pollOnce(), pollMs).unref()
    this.#watch()
  }

  #pollOnce(): void {
    if (!this.#watcher && !this.#next) this.#watch()
    this.#look()
  }

  #watch(): void {
    try {
      this.#watcher = watch(this.#path, { persistent: false }, () => this.#noticed())
      this.#watcher.on('error', () => this.#unwatch())
    } catch {
      // It is not there yet, or may not be watched; the next poll tries again.
    }
  }

  /** Not watched meanwhile: a writer at full speed would call us for every page. */
  #noticed(): void {
    this.#unwatch()
    this.#lookOn(0)
  }

  #lookOn(index: number): void {
    this.#next = setTimeout(() => {
      this.#next = undefined
      const isLast = index === looksMs.length - 1
      if (isLast) this.#watch() // first, so that nothing falls in between
      this.#look()
      if (!isLast) this.#lookOn(index + 1)
    }, looksMs[index]).unref()
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
