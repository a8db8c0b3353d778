import type { Driver } from './driver.ts'

/** The same driver, each of whose writes and transactions is run by `around`. */
export function aroundWrites(driver: Driver, around: <T>(write: () => Promise<T>) => Promise<T>): Driver {
  return {
    query: driver.query,
    read: (statement, options) => driver.read(statement, options),
    ...(driver.readPage && { readPage: driver.readPage.bind(driver) }),
    snapshot: (work, options) => driver.snapshot(work, options),
    write: (...given) => around(() => driver.write(...given)),
    transaction: (...given) => around(() => driver.transaction(...given)),
    [Symbol.asyncDispose]: () => driver[Symbol.asyncDispose](),
  }
}
