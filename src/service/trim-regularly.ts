import type { ChangeLog } from '../storage/change-log.ts'
import type { StoredAnswers } from '../storage/stored-answers.ts'
import type { Clock } from '../support/clock.ts'
import type { Limits } from '../support/limits.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'

/** How often the log of changes and the stored answers are looked through for what may go. */
const trimEveryMs = 60_000
/** How often it is asked whether so much was written that this is due earlier. */
const sizeEveryMs = 1_000
/** What may be written beyond the bytes that are kept, as a part of them. */
const surplus = 1 / 8

interface TrimmedStore {
  readonly changes: Pick<ChangeLog, 'trim' | 'size'>
  readonly answers?: Pick<StoredAnswers, 'trim' | 'size'> | undefined
}

/** Trims the log of changes and the stored answers from now on, until the result is disposed of. */
export function trimRegularly(
  { changes, answers }: TrimmedStore,
  limits: Limits,
  clock: Clock,
  onError: (error: unknown) => void,
): Disposable {
  const { logKeepMs, logKeepRows: rows, logKeepBytes: bytes } = limits
  const forJobs = { ageMs: limits.jobLogKeepMs, rows: limits.jobLogKeepRows, bytes: limits.jobLogKeepBytes }
  const tables = [
    new TrimmedTable(
      () => changes.trim({ ageMs: logKeepMs, rows, bytes, forJobs }),
      () => changes.size?.(),
      bytes,
    ),
    new TrimmedTable(
      async () => answers?.trim({ olderThan: clock.now() - logKeepMs, rows, bytes }),
      () => answers?.size?.(),
      bytes,
    ),
  ]
  const all = setInterval(() => {
    for (const table of tables) table.trim().catch(onError)
  }, trimEveryMs).unref()
  const grown = setInterval(() => {
    for (const table of tables) table.trimWhenGrown().catch(onError)
  }, sizeEveryMs).unref()
  return {
    [Symbol.dispose]() {
      clearInterval(all)
      clearInterval(grown)
    },
  }
}

class TrimmedTable {
  readonly #trim: () => Promise<void>
  readonly #sizeOf: () => MaybePromise<number> | undefined
  readonly #keptBytes: number
  #sizeAfterTrim = 0
  #isBusy = false

  constructor(trim: () => Promise<void>, sizeOf: () => MaybePromise<number> | undefined, keptBytes: number) {
    this.#trim = trim
    this.#sizeOf = sizeOf
    this.#keptBytes = keptBytes
  }

  async trim(): Promise<void> {
    this.#isBusy = true
    try {
      await this.#trim()
      this.#sizeAfterTrim = await this.#size()
    } finally {
      this.#isBusy = false
    }
  }

  async trimWhenGrown(): Promise<void> {
    if (this.#isBusy) return
    const size = await this.#size()
    if (size > this.#keptBytes && size - this.#sizeAfterTrim > this.#keptBytes * surplus && !this.#isBusy)
      await this.trim()
  }

  /** Where it cannot be read, the regular trim says so. */
  async #size(): Promise<number> {
    try {
      return (await this.#sizeOf()) ?? 0
    } catch {
      return 0
    }
  }
}
