import type { SqlChangeLog } from './change-log.ts'

/** Changes that are read from the log count before they are delivered, so that an event is never ahead of an answer. */
export function countReads(log: SqlChangeLog, count: () => void): void {
  const read = log.read.bind(log)
  log.read = async (...given) => {
    const batch = await read(...given)
    if (batch === 'reset' || batch.changes.length > 0) count()
    return batch
  }
}
