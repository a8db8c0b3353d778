import { ByteBudget } from '../../byte-budget.ts'
import { isLarge } from '../errors.ts'

/** The largest size of the rows of one read of the log. They may take twice as much memory. */
const maxReadBytes = 8_000_000
const fewer = 8

/**
 * How many rows of the log are read at once: fewer after a read that had too many bytes, and then more again. The server tells no
 * size of an image without decompressing it, so that it shows while the rows arrive.
 */
export class ReadSize {
  #mostRows = Number.POSITIVE_INFINITY

  /** Runs `read` with at most `limit` rows, again with fewer where they are too large. One operation is read whole. */
  async fit<T>(limit: number, read: (limit: number, budget: () => ByteBudget | undefined) => Promise<T>): Promise<T> {
    for (;;) {
      const most = Math.min(limit, this.#mostRows)
      try {
        const result = await read(most, () => (most > 1 ? new ByteBudget(maxReadBytes) : undefined))
        this.#mostRows *= 2
        return result
      } catch (error) {
        if (!isLarge(error)) throw error
        this.#mostRows = Math.max(1, Math.floor(most / fewer))
      }
    }
  }
}
