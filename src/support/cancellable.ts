/**
 * An iterator over a generator that can be ended while a `next` is pending. `end` makes the generator return; it may be
 * called more than once.
 */
export function cancellable<T>(
  items: AsyncGenerator<T, undefined, undefined>,
  end: () => void,
): AsyncIterableIterator<T, undefined, undefined> & AsyncDisposable {
  const iterator = {
    [Symbol.asyncIterator]: () => iterator,
    next: () => items.next(),
    return() {
      end()
      return items.return(undefined)
    },
    async [Symbol.asyncDispose]() {
      await iterator.return()
    },
  }
  return iterator
}
