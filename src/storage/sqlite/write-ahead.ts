import { statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Background } from './background.ts'
import type { Connection } from './connection.ts'
import { isBusy } from './errors.ts'

/** It is folded into the file from another thread when it has grown past this. */
const checkpointBytes = 4 * 1024 * 1024
/** If that thread does not come round to it, the writer does it itself: at four kilobytes a page, past 64 MB. */
export const checkpointPages = 16_384
/** SQLite begins it anew only when nobody reads in it; past this, and as much again, writers wait for such a moment. */
const restBytes = 128 * 1024 * 1024
/** For so long: whoever reads longer than this is not waited for. */
const longestRestMs = 500
const askAgainMs = 5
/** How many commits pass between two looks at its size. */
const commitsPerLook = 64

/**
 * Keeps the log that SQLite writes ahead from growing as long as somebody writes. Readers that overlap, of several
 * processes or of one that is always reading, never leave it: then the writers rest until those who began before have
 * ended, because those who begin meanwhile read in the file itself.
 */
export class WriteAhead {
  readonly #path: string
  readonly #writing: Connection
  readonly #background: Background
  #commits = 0
  #restAtBytes = restBytes

  constructor(path: string, writing: Connection, background: Background) {
    this.#path = `${path}-wal`
    this.#writing = writing
    this.#background = background
  }

  /** After each commit. What it returns is to be awaited before the next transaction. */
  committed(): Promise<void> | undefined {
    if (++this.#commits % commitsPerLook !== 0) return undefined
    const bytes = sizeOf(this.#path)
    if (bytes < checkpointBytes) return undefined
    this.#background.run('pragma wal_checkpoint(passive)', []).catch(() => {}) // the writer does it when this does not
    if (bytes < this.#restAtBytes) return undefined
    this.#restAtBytes = bytes + restBytes
    return this.#rest()
  }

  async #rest(): Promise<void> {
    const giveUpAt = performance.now() + longestRestMs
    while (performance.now() < giveUpAt) {
      try {
        const [row] = this.#writing.all('pragma wal_checkpoint(truncate)', [])
        if (row?.[0] === 0) {
          this.#restAtBytes = restBytes
          return
        }
      } catch (error) {
        if (!isBusy(error)) return // the next write will say it, to somebody who wants to know
      }
      await pause(askAgainMs)
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
