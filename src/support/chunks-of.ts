/** The items in groups of this size; the last may be smaller. */
export function* chunksOf<T>(items: Iterable<T>, size: number): Generator<readonly T[]> {
  let chunk: T[] = []
  for (const item of items) {
    if (chunk.push(item) < size) continue
    yield chunk
    chunk = []
  }
  if (chunk.length > 0) yield chunk
}
