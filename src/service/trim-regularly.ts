import type { ChangeLog } from '../storage/change-log.ts'
import type { StoredAnswers } from '../storage/stored-answers.ts'
import { backgroundError } from '../support/background-error.ts'
import type { Clock } from '../support/clock.ts'
import type { Limits } from '../support/limits.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'

/** How often old changes and stored answers are trimmed. */
const trimEveryMs = 60_000
/** How often the sizes are checked, to trim earlier if much was written. */
const sizeEveryMs = 1_000
/** The fraction of the kept bytes that may be written before an earlier trim. */
const surplus = 1 / 8

interface TrimmedStore {
  readonly changes: Pick<ChangeLog, 'trim' | 'size'>
  readonly answers?: Pick<StoredAnswers, 'trim' | 'size'> | undefined
}

/**
 * Trims the log of changes and the stored answers from now on, until the result is disposed of. A trim that is under way then may fail
 * because the database is closed, which is no error.
 */
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
      'change log',
      () => changes.trim({ ageMs: logKeepMs, rows, bytes, forJobs }),
      () => changes.size?.(),
      bytes,
    ),
    new TrimmedTable(
      'stored answers',
      async () => answers?.trim({ olderThan: clock.now() - logKeepMs, rows, bytes }),
      () => answers?.size?.(),
      bytes,
    ),
  ]
  let isStopped = false
  const onFailure =
    ({ name }: TrimmedTable) =>
    (error: unknown): void => {
      if (!isStopped) onError(backgroundError(`The ${name} could not be trimmed`, error))
    }
  const all = setInterval(() => {
    for (const table of tables) table.trim().catch(onFailure(table))
  }, trimEveryMs).unref()
  const grown = setInterval(() => {
    for (const table of tables) table.trimWhenGrown().catch(onFailure(table))
  }, sizeEveryMs).unref()
  return {
    [Symbol.dispose]() {
      isStopped = true
      clearInterval(all)
      clearInterval(grown)
    },
  }
}

class TrimmedTable {
  readonly name: string
  readonly #trim: () => Promise<void>
  readonly #sizeOf: () => MaybePromise<number> | undefined
  readonly #keptBytes: number
  #sizeAfterTrim = 0
  #isBusy = false

  constructor(
    name: string,
    trim: () => Promise<void>,
    sizeOf: () => MaybePromise<number> | undefined,
    keptBytes: number,
  ) {
    this.name = name
    this.#trim = trim
    this.#sizeOf = sizeOf
    this.#keptBytes = keptBytes
  }

  /** Does nothing while a trim is under way. */
  async trim(): Promise<void> {
    if (this.#isBusy) return
    this.#isBusy = true
    try {
      await this.#trim()
    } finally {
      // Also after an error: what fails is repeated with the next regular trim, not each second.
      this.#sizeAfterTrim = await this.#size()
      this.#isBusy = false
    }
  }

  async trimWhenGrown(): Promise<void> {
    if (this.#isBusy) return
    const size = await this.#size()
    if (size > this.#keptBytes && size - this.#sizeAfterTrim > this.#keptBytes * surplus) await this.trim()
  }

  /** An error is ignored: the regular trim reports it. */
  async #size(): Promise<number> {
    try {
      return (await this.#sizeOf()) ?? 0
    } catch {
      return 0
    }
  }
}
