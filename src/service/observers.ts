import type { ErrorListener } from '../protocol/error-response.ts'
import { DatabaseError } from '../storage/driver.ts'
import { logTo } from '../support/logger.ts'
import { type Observe, observeAll } from '../support/observation.ts'
import type { AnyConfig } from './config/config.ts'
import { databaseFailure, printError } from './print-error.ts'

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
    ...(logger || onError ? [] : [errorsTo(printError)]),
  ]
  const observe = observeAll(listeners)
  return {
    onError: eachFailureOnce((error) => observe({ kind: 'error', error })),
    observe: logger && eachRefusalOnce(observe),
  }
}

/** Failures of work in the background that have one cause are reported at most three times a minute: it is tried again and again. */
const sameCauseMs = 60_000
const sameCauseReports = 3
/** The texts of failures may differ each time. */
const maxCauses = 100

/**
 * One failure of the database, as that of a file that was replaced, reaches all parts that write on their own. While it lasts,
 * their attempts are counted.
 */
function eachFailureOnce(onError: ErrorListener): ErrorListener {
  const reported = new WeakSet<DatabaseError>()
  const causes = new Map<string, { readonly since: number; reports: number; repetitions: number }>()
  return (error) => {
    const inBackground = databaseFailure(error)
    const failure = inBackground ?? error
    if (failure instanceof DatabaseError) {
      if (reported.has(failure)) return
      reported.add(failure)
    }
    if (!inBackground) return onError(error)
    const now = performance.now()
    const last = causes.get(inBackground.message)
    const isOver = last === undefined || now - last.since >= sameCauseMs
    if (isOver) {
      if (causes.size >= maxCauses) causes.clear()
      causes.set(inBackground.message, { since: now, reports: 1, repetitions: 0 })
    } else if (last.reports < sameCauseReports) last.reports++
    else {
      last.repetitions++
      return
    }
    onError(described(error as Error, inBackground, isOver ? (last?.repetitions ?? 0) : 0))
  }
}

/** The error with what an operator may do, and with the number of those that were not reported. */
function described(error: Error, { reason }: DatabaseError, repetitions: number): Error {
  const advice = reason.kind === 'missing' ? '. The next start creates or names what is missing' : ''
  const times = repetitions === 0 ? '' : ` (${repetitions} more of this cause since the last report)`
  return advice + times === '' ? error : new Error(`${error.message}${advice}${times}`, { cause: error.cause })
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
