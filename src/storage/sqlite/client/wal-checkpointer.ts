import { statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { CheckpointThread } from './checkpoint-thread.ts'

/** Above this size the WAL is checkpointed in a worker thread. */
const checkpointBytes = 4 * 1024 * 1024
/** SQLite's automatic checkpoint on the writing connection, as a fallback: 512 MB in pages of 4 kB. It blocks the event loop. */
export const checkpointPages = 131_072
/** Above this size, and each time it has grown by as much again, writers pause so that the WAL can be truncated. */
const truncateBytes = 128 * 1024 * 1024
/** The longest pause; readers that take longer are not awaited. */
const maxTruncateMs = 500
const retryMs = 5
/** Commits between two checks of the size, and the time after which the next commit checks it: one may write much. */
export const commitsPerCheck = 64
export const checkMs = 50

/**
 * Bounds the size of the WAL under continuous writes. SQLite cannot reset the WAL while it is being read; with
 * overlapping readers there is no such moment. Above `truncateBytes`, writers pause until the readers that began earlier
 * have ended: readers that begin during the pause read the database file only.
 */
export class WalCheckpointer {
  readonly #path: string
  readonly #thread: CheckpointThread
  #truncateAtBytes = truncateBytes
  #lastBytes = 0

  /** `path`: the WAL. */
  constructor(path: string, thread: CheckpointThread) {
    this.#path = path
    this.#thread = thread
  }

  /**
   * The result is awaited before the next transaction. A WAL that was checkpointed is written from its beginning again and
   * keeps its size: `isEarly`, before `commitsPerCheck` commits, only one that has grown is checkpointed.
   */
  check(isEarly = false): Promise<void> | undefined {
    const bytes = sizeOf(this.#path)
    const hasGrown = bytes > this.#lastBytes
    this.#lastBytes = bytes
    if (bytes < checkpointBytes || (isEarly && !hasGrown)) return undefined
    this.#thread.run()
    if (bytes < this.#truncateAtBytes) return undefined
    this.#truncateAtBytes = bytes + truncateBytes
    return this.#truncate()
  }

  async #truncate(): Promise<void> {
    const giveUpAt = performance.now() + maxTruncateMs
    while (performance.now() < giveUpAt) {
      if (await this.#thread.truncate()) {
        this.#truncateAtBytes = truncateBytes
        return
      }
      await pause(retryMs)
    }
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size
  } catch {
    return 0
  }
}
