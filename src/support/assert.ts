/** For what cannot happen unless this program is wrong. Never for what a user or a client sent. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Bug in keelson: ${message}`)
}

export function must<T>(value: T | undefined | null, message: string): T {
  if (value === undefined || value === null) throw new Error(`Bug in keelson: ${message}`)
  return value
}

export function unreachable(value: never): never {
  throw new Error(`Bug in keelson: unexpected ${JSON.stringify(value)}`)
}
