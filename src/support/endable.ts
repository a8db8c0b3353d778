/**
 * What a generator gives, as an iterator that can be ended while somebody waits for the next item. `end` makes the
 * generator go on to its end; it may be called more than once.
 */
export function endable<T>(
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
