import type { Violation } from '../protocol/errors.ts'

/** Of a reference to a record that does not exist, or that the requester may not read: both are told in the same words. */
export const missingTarget = (target: string): Violation => ({
  rule: 'exists',
  message: `names no existing ${target}`,
})
