import { withoutStack } from '../support/without-stack.ts'
import { DatabaseError } from './driver.ts'

/** Failures that follow one another within this time have one cause and are reported once. */
const sameCauseMs = 60_000

/** Reports when the disk of the database becomes full: once, not for each refused write. */
export class FullDiskReport {
  readonly #onError: ((error: unknown) => void) | undefined
  readonly #now: () => number
  #failedAt = Number.NEGATIVE_INFINITY

  constructor(onError: ((error: unknown) => void) | undefined, now: () => number = Date.now) {
    this.#onError = onError
    this.#now = now
  }

  /** Called with the error of each write that failed. */
  see(error: unknown): void {
    if (!(error instanceof DatabaseError) || error.reason.kind !== 'full') return
    const now = this.#now()
    const isNew = now - this.#failedAt > sameCauseMs
    this.#failedAt = now
    if (isNew) this.#onError?.(fullDisk(error))
  }
}

const fullDisk = ({ message }: DatabaseError): Error =>
  withoutStack(new Error(`The disk of the database is full (${message}); writes get 503 until there is space`))
