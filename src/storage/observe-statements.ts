import { isPromise, type MaybePromise } from '../support/maybe-promise.ts'
import type { Observe } from '../support/observation.ts'
import type { CurrentRead, Driver, Query, Read } from './driver.ts'

/** The driver, with an observation of each statement that it completes. Without a listener it is the driver itself. */
export function observeStatements(driver: Driver, observe: Observe | undefined): Driver {
  if (!observe) return driver
  function timed<T>(text: string, run: () => MaybePromise<T>): MaybePromise<T> {
    const startedAt = performance.now()
    const report = (result: T): T => {
      observe?.({ kind: 'statement', text, ms: performance.now() - startedAt })
      return result
    }
    const result = run()
    return isPromise(result) ? result.then(report) : report(result)
  }
  const observedQuery =
    (query: Query): Query =>
    (text, values, options) =>
      timed(text, () => query(text, values, options))
  const observedRead =
    (read: Read): Read =>
    (statement, options) =>
      timed(statement.text, () => read(statement, options))
  return {
    query: driver.query,
    read: (statement, options) => timed(statement.text, () => driver.read(statement, options)),
    snapshot: (work, options) => driver.snapshot((read) => work(observedRead(read)), options),
    write: async (text, values, origin) => timed(text, () => driver.write(text, values, origin)),
    transaction: (work, origin, options) => driver.transaction((query) => work(observedQuery(query)), origin, options),
    [Symbol.asyncDispose]: () => driver[Symbol.asyncDispose](),
  }
}

/** As `observeStatements`, for reads in which nothing waits. */
export const observeRead = (read: CurrentRead, observe: Observe | undefined): CurrentRead =>
  observe
    ? (statement, options) => {
        const startedAt = performance.now()
        const rows = read(statement, options)
        observe({ kind: 'statement', text: statement.text, ms: performance.now() - startedAt })
        return rows
      }
    : read
