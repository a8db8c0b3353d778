import { isPromise, type MaybePromise } from '../support/maybe-promise.ts'
import type { Observe } from '../support/observation.ts'
import type { CurrentRead, Driver, Query, Reader } from './driver.ts'

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
  const observedReader = (reader: Reader): Reader => {
    const read: Reader['read'] = (statement, options) => timed(statement.text, () => reader.read(statement, options))
    const readPage = reader.readPage?.bind(reader)
    if (!readPage) return { read }
    return { read, readPage: (statement, ...rest) => timed(statement.text, () => readPage(statement, ...rest)) }
  }
  return {
    query: driver.query,
    ...observedReader(driver),
    snapshot: (work, options) => driver.snapshot((reader) => work(observedReader(reader)), options),
    write: async (text, ...rest) => timed(text, () => driver.write(text, ...rest)),
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
