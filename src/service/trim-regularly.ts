import type { Store } from '../storage/store.ts'
import type { Clock } from '../support/clock.ts'
import type { Limits } from '../support/limits.ts'

/** How often the log of changes is looked through for what may go. */
const trimEveryMs = 60_000

/** Trims the log of changes and the stored answers from now on, until the timer is cleared. */
export function trimRegularly(
  store: Store,
  limits: Limits,
  clock: Clock,
  onError: (error: unknown) => void,
): NodeJS.Timeout {
  const forJobs = { ageMs: limits.jobLogKeepMs, rows: limits.jobLogKeepRows }
  const keep = { ageMs: limits.logKeepMs, rows: limits.logKeepRows, forJobs }
  const trim = () => {
    store.changes.trim(keep).catch(onError)
    store.answers?.trim({ olderThan: clock.now() - limits.logKeepMs, rows: limits.logKeepRows }).catch(onError)
  }
  return setInterval(trim, trimEveryMs).unref()
}
