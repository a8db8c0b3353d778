/** The application's own object for a signed-in user. */
export type User = Readonly<Record<string, unknown>>

/**
 * On whose behalf an operation runs. A request carries `anonymous` or a user; `system` is only ever chosen by code in
 * the same process, so that an absent identity can never become it.
 */
export type Requester =
  | { readonly kind: 'system' }
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'user'; readonly user: User }

export const system: Requester = Object.freeze({ kind: 'system' })
export const anonymous: Requester = Object.freeze({ kind: 'anonymous' })

/** Whether it identifies a user: equal ones are one user. Equality of objects is not defined, and NaN is equal to every other. */
export const isUserId = (value: unknown): value is string | number | bigint =>
  typeof value === 'string' || typeof value === 'bigint' || (typeof value === 'number' && !Number.isNaN(value))

/** Milliseconds until the user's `expiresAt` (ISO 8601); infinite without one. */
export function remainingMs(requester: Requester | undefined, nowMs: number = Date.now()): number {
  const expiresAt = requester?.kind === 'user' ? requester.user.expiresAt : undefined
  return typeof expiresAt === 'string' ? Date.parse(expiresAt) - nowMs : Number.POSITIVE_INFINITY
}
