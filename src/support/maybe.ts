/**
 * A value now, or a promise of it. SQLite answers in the same turn and PostgreSQL does not; code in between is
 * written once, and costs no promise where none is needed.
 */
export type Maybe<T> = T | Promise<T>

export const isPromise = <T>(value: Maybe<T>): value is Promise<T> => value instanceof Promise

export function chain<T, U>(value: Maybe<T>, next: (value: T) => Maybe<U>): Maybe<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Runs `work` for each item, one after another, as long as nothing fails. */
export function each<T>(items: readonly T[], work: (item: T, index: number) => Maybe<unknown>): Maybe<void> {
  for (let index = 0; index < items.length; index++) {
    const result = work(items[index] as T, index)
    if (result instanceof Promise) return result.then(() => each(items.slice(index + 1), work))
  }
}
