/** For conditions that only a bug can violate; never for the input of a user or a client. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Bug in keelson: ${message}`)
}

export function assertDefined<T>(value: T | undefined | null, message: string): T {
  if (value === undefined || value === null) throw new Error(`Bug in keelson: ${message}`)
  return value
}

export function unreachable(value: never): never {
  throw new Error(`Bug in keelson: unexpected ${JSON.stringify(value)}`)
}
