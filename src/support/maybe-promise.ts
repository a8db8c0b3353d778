/**
 * A value, or a promise of it. SQLite reads are synchronous and PostgreSQL reads are not: code over `MaybePromise` serves
 * both, and creates no promise where none is needed.
 */
export type MaybePromise<T> = T | Promise<T>

export const isPromise = <T>(value: MaybePromise<T>): value is Promise<T> => value instanceof Promise

/** Not only a Promise: the queries of many libraries can be awaited as well. */
export const isThenable = <T>(value: T | PromiseLike<T>): value is PromiseLike<T> =>
  ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
  typeof (value as { readonly then?: unknown }).then === 'function'

export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Runs `work` for each item in sequence; the first failure ends it. */
export function forEachSequential<T>(
  items: readonly T[],
  work: (item: T, index: number) => MaybePromise<unknown>,
): MaybePromise<void> {
  for (let index = 0; index < items.length; index++) {
    const result = work(items[index] as T, index)
    if (result instanceof Promise) return result.then(() => forEachSequential(items.slice(index + 1), work))
  }
}
