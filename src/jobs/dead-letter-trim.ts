import { type JobSave, type JobStore, jobEventRowBytes } from '../storage/job-store.ts'

/** The fraction of the kept bytes that may be stored before the next trim. */
const surplus = 1 / 8

export interface DeadLetterTrimParts {
  readonly store: Pick<JobStore, 'trimLetters'>
  /** The name of the job. */
  readonly name: string
  readonly keptBytes: number
  /** `count` dead letters, the oldest, were dropped. */
  readonly dropped: (count: number) => void
  readonly onError: (error: unknown) => void
}

/** Keeps the dead letters of a job within a number of bytes, and at most an eighth more. */
export class DeadLetterTrim {
  readonly #parts: DeadLetterTrimParts
  /** The bytes stored since the last trim. Unknown at first, as another process may have stored some. */
  #storedBytes = Number.POSITIVE_INFINITY
  #trimming: Promise<void> | undefined

  constructor(parts: DeadLetterTrimParts) {
    this.#parts = parts
  }

  /** Called after each save. */
  stored({ added, failed }: Pick<JobSave, 'added' | 'failed'>): void {
    for (const { isDead, bytes } of [...added, ...failed]) if (isDead) this.#storedBytes += bytes + jobEventRowBytes
    if (this.#storedBytes > this.#parts.keptBytes * surplus) this.#trimming ??= this.#trim()
  }

  /** Resolves when no trim is under way. */
  async finish(): Promise<void> {
    await this.#trimming
  }

  /** One that fails is repeated when as much has been stored again. */
  async #trim(): Promise<void> {
    const { store, name, keptBytes, dropped, onError } = this.#parts
    this.#storedBytes = 0
    try {
      const count = await store.trimLetters(name, keptBytes)
      if (count > 0) dropped(count)
    } catch (error) {
      onError(error)
    } finally {
      this.#trimming = undefined
    }
  }
}
