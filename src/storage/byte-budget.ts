import { DatabaseError } from './driver.ts'
import type { ReadOptions } from './store.ts'

/**
 * Values may take more bytes in a row than in an answer: binary values are read as hexadecimal digits, computed attributes read
 * their sources, and masked attributes are read as well.
 */
export const readBytesPerAnswerByte = 2

/**
 * The bytes of values that the reads of one request may return together, so that no more of them are in memory. Characters
 * count as bytes where the driver returns texts without their number of bytes.
 */
export class ByteBudget {
  readonly maxAnswerBytes: number
  #left: number

  constructor(maxAnswerBytes: number) {
    this.maxAnswerBytes = maxAnswerBytes
    this.#left = maxAnswerBytes * readBytesPerAnswerByte
  }

  get left(): number {
    return this.#left
  }

  /** Returns false if the budget is exceeded. */
  take(bytes: number): boolean {
    this.#left -= bytes
    return this.#left >= 0
  }

  /** Returns bytes to the budget after a read that failed and may be repeated: its rows are no longer in memory. */
  giveBack(bytes: number): void {
    this.#left += bytes
  }

  get exceeded(): DatabaseError {
    return tooLarge(this.maxAnswerBytes)
  }
}

export function tooLarge(maxAnswerBytes: number): DatabaseError {
  const message = `The values that were read have more than ${readBytesPerAnswerByte} times ${maxAnswerBytes} bytes`
  return new DatabaseError({ kind: 'large', maxAnswerBytes }, message)
}

/** The reads for the answer to one client. */
class ClientReads implements ReadOptions {
  readonly #client: ReadOptions
  readonly budget: ByteBudget
  readonly isPostponable: boolean

  constructor(client: ReadOptions, budget: ByteBudget, isPostponable: boolean) {
    this.#client = client
    this.budget = budget
    this.isPostponable = isPostponable
  }

  /** Asked for when it is needed: it may be created then. */
  get signal(): AbortSignal | undefined {
    return this.#client.signal
  }

  get poll(): number | undefined {
    return this.#client.poll
  }
}

/**
 * The budget of one statement. Without a budget that it shares with others, a read for a client may return as much as one answer.
 */
export const budgetOf = (options: ReadOptions | undefined, maxAnswerBytes: number): ByteBudget | undefined =>
  options && (options.budget ?? new ByteBudget(maxAnswerBytes))

/** What is read for an answer is bounded; what the application reads, which has no client, is not. */
export const boundedReads = (
  client: ReadOptions | undefined,
  maxAnswerBytes: number,
  isPostponable = false,
): ReadOptions | undefined => client && new ClientReads(client, new ByteBudget(maxAnswerBytes), isPostponable)
