import type { SqlChangeLog } from './change-log.ts'

/** The log of a database without change capture: always empty, with the reason as its `limitation`. */
export const disabledChangeLog = (reason: string): SqlChangeLog => ({
  limitation: `No changes are captured: ${reason}`,
  head: () => 'none',
  headIn: () => 'none',
  tail: () => 'none',
  includes: () => true,
  reaches: (_, target) => (target === 'none' ? true : undefined),
  read: (after) => (after === 'none' ? { changes: [], position: after } : 'reset'),
  onChange: () => ({ [Symbol.dispose]() {} }),
  isKept: (position) => position === 'none',
  trim: async () => {},
})
