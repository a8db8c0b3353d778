import type { ErrorListener } from '../protocol/error-response.ts'
import { DatabaseError } from '../storage/driver.ts'
import { logTo } from '../support/logger.ts'
import { type Observe, observeAll } from '../support/observation.ts'
import type { AnyConfig } from './config/config.ts'

export interface Observers {
  /** Reports an unexpected error to every listener. */
  readonly onError: ErrorListener
  /** Undefined when only errors are listened to, so that requests need not be measured. */
  readonly observe: Observe | undefined
}

/** The listeners of a configuration: its logger and its `onError`, or else the console for errors. */
export function observersOf({ logger, onError }: AnyConfig): Observers {
  const listeners = [
    ...(logger ? [logTo(logger)] : []),
    ...(onError ? [errorsTo(onError)] : []),
    ...(logger || onError ? [] : [errorsTo((error) => console.error(error))]),
  ]
  const observe = observeAll(listeners)
  return {
    onError: eachFailureOnce((error) => observe({ kind: 'error', error })),
    observe: logger && eachRefusalOnce(observe),
  }
}

/** One failure of the database, as that of a file that was replaced, reaches all parts that write on their own. */
function eachFailureOnce(onError: ErrorListener): ErrorListener {
  const reported = new WeakSet<DatabaseError>()
  return (error) => {
    const failure = error instanceof Error && error.cause instanceof DatabaseError ? error.cause : error
    if (failure instanceof DatabaseError) {
      if (reported.has(failure)) return
      reported.add(failure)
    }
    onError(error)
  }
}

/** Any client can send any origin: further ones are not reported. */
const maxReportedPages = 20

function eachRefusalOnce(observe: Observe): Observe {
  const pages = new Set<string>()
  const reasons = new Set<string>()
  return (observation) => {
    if (observation.kind === 'pageRefused') {
      const page = `${observation.option} ${observation.origin}`
      if (pages.has(page) || pages.size === maxReportedPages) return
      pages.add(page)
    } else if (observation.kind === 'tokenRefused') {
      if (reasons.has(observation.reason)) return
      reasons.add(observation.reason)
    }
    observe(observation)
  }
}

const errorsTo =
  (listener: ErrorListener): Observe =>
  (observation) =>
    observation.kind === 'error' ? listener(observation.error) : undefined
