import type { Violation } from '../protocol/errors.ts'

/** Of a reference to a record that does not exist, or that the requester may not read: the message does not say which. */
export const missingTarget = (target: string): Violation => ({
  rule: 'exists',
  message: `names no existing ${target}`,
})
