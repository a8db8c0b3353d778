import { DatabaseError } from './driver.ts'
import type { ReadOptions } from './store.ts'

/**
 * Values may be longer where they are read than in an answer: bytes as hexadecimal digits, the sources of a computed
 * attribute, values beside those that rules mask.
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

  /** False: they are more than are left. */
  take(bytes: number): boolean {
    this.#left -= bytes
    return this.#left >= 0
  }

  /** What was read is not in memory any longer: the read has failed, and may be repeated. */
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

/** What one statement may read: one for a client that shares no budget with others is an answer of its own. */
export const budgetOf = (options: ReadOptions | undefined, maxAnswerBytes: number): ByteBudget | undefined =>
  options && (options.budget ?? new ByteBudget(maxAnswerBytes))

/** What is read for an answer is bounded; what the application reads, which has no client, is not. */
export const boundedReads = (
  client: ReadOptions | undefined,
  maxAnswerBytes: number,
  isPostponable = false,
): ReadOptions | undefined => client && new ClientReads(client, new ByteBudget(maxAnswerBytes), isPostponable)
