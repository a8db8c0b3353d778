import { setTimeout as delay } from 'node:timers/promises'
import type { ReadOptions } from '../../store.ts'

/**
 * The server forgets a request to cancel that arrives between two messages of a statement, as between its plan and its
 * execution. So it is repeated after this time while the statement runs.
 */
const repeatMs = 250

/**
 * Calls `cancel` when the signal is aborted, until it is disposed. That waits for a request to cancel which is under way: a
 * connection that served others by then would have their statement cancelled.
 */
export function cancelOnAbort({ signal }: ReadOptions, cancel: () => Promise<unknown>): AsyncDisposable {
  /** Made when it is needed: to abort one takes some microseconds, and nearly every read ends without this. */
  let ended: AbortController | undefined
  let cancelling: Promise<void> | undefined
  const cancelUntil = async (end: AbortSignal) => {
    while (!end.aborted) {
      await cancel()
      await delay(repeatMs, undefined, { signal: end }).catch(() => {}) // it has ended
    }
  }
  const abort = () => {
    ended = new AbortController()
    cancelling = cancelUntil(ended.signal)
  }
  signal?.addEventListener('abort', abort)
  return {
    async [Symbol.asyncDispose]() {
      signal?.removeEventListener('abort', abort)
      ended?.abort()
      await cancelling
    },
  }
}
