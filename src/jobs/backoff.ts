const growth = 3
/** No event waits longer for its next run. */
export const longestDelayMs = 3_600_000

/**
 * The delay before the next run. It grows with the number of failures, and up to half of it is left out at random, so that
 * events that failed together are not repeated together. An error with `retryAfterMs` names a longer one.
 */
export function delayAfter(attempt: number, baseMs: number, error: unknown, random = Math.random()): number {
  const grown = Math.min(longestDelayMs, baseMs * growth ** (attempt - 1)) * (1 - random / 2)
  const named = memberOf(error, 'retryAfterMs')
  return Math.round(typeof named === 'number' && named > grown ? Math.min(named, longestDelayMs) : grown)
}

/** An error with `retry: false` will not pass: its event becomes a dead letter at once. */
export const isFinal = (error: unknown): boolean => memberOf(error, 'retry') === false

/** Anything can be thrown, also what throws when it is read. Its event must be repeated like any other. */
function memberOf(error: unknown, name: 'retry' | 'retryAfterMs'): unknown {
  try {
    return (error as { readonly [name: string]: unknown } | null | undefined)?.[name]
  } catch {
    return undefined
  }
}
