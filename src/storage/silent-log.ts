import type { SqlChangeLog } from './change-log.ts'

/** Stands where there is no log: it tells of nothing, and says so. */
export const silentLog = (reason: string): SqlChangeLog => ({
  caveat: `No change is heard of: ${reason}`,
  head: () => 'none',
  headIn: () => 'none',
  tail: () => 'none',
  covers: () => true,
  read: (after) => (after === 'none' ? { changes: [], position: after } : 'reset'),
  onWake: () => ({ [Symbol.dispose]() {} }),
  trim: async () => {},
})
