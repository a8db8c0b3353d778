import { Deadlines } from '../support/deadlines.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import { ServiceError } from './errors.ts'

const deadlines = new Map<number, Deadlines>()

/**
 * What code of the application has begun, named by `what`. Rejects with E_TIMEOUT when it takes longer than `hookTimeoutMs`; what it
 * does afterwards has no effect.
 */
export function withinHookTime<T>(
  result: MaybePromise<T>,
  what: string,
  { hookTimeoutMs }: { readonly hookTimeoutMs: number },
): MaybePromise<T> {
  if (!(result instanceof Promise)) return result
  const pending = getOrInsertComputed(deadlines, hookTimeoutMs, () => new Deadlines(hookTimeoutMs))
  return new Promise((resolve, reject) => {
    const onLate = () =>
      reject(new ServiceError('E_TIMEOUT', `${what} took longer than ${hookTimeoutMs} ms`, { limit: 'hookTimeoutMs' }))
    pending.add(onLate)
    result.then(
      (value) => {
        pending.remove(onLate)
        resolve(value)
      },
      (error: unknown) => {
        pending.remove(onLate)
        reject(error)
      },
    )
  })
}
