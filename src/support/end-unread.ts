/** Ends a stream of which nothing will be read, so that its source is released. */
export function endUnread(stream: AsyncIterable<unknown>, onError: (error: unknown) => void): void {
  stream[Symbol.asyncIterator]().return?.().catch(onError)
}
