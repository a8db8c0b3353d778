import { mock } from 'node:test'
import type { Driver, Query } from '../../../src/storage/driver.ts'
import { SelfVersions } from '../../../src/storage/self-versions.ts'

export type Fault = 'statements' | 'transactions' | 'cascades and triggers'

/** What does not count from now on, in this process. */
export function plant(fault: Fault): void {
  const { countWrites, of } = SelfVersions.prototype
  if (fault === 'cascades and triggers') {
    const versions = new Map<string, number>()
    mock.method(SelfVersions.prototype, 'countWrites', (driver: Driver) => countingNamed(driver, versions))
    mock.method(SelfVersions.prototype, 'of', function (this: SelfVersions, tables) {
      return of.call(this, tables) && tables.map((table) => `${table} ${versions.get(table)}`).join()
    } satisfies typeof of)
    return
  }
  mock.method(SelfVersions.prototype, 'countWrites', function (this: SelfVersions, driver: Driver) {
    const counting = countWrites.call(this, driver)
    return fault === 'statements'
      ? { ...counting, write: driver.write.bind(driver) }
      : { ...counting, transaction: driver.transaction.bind(driver) }
  } satisfies typeof countWrites)
}

/** Counts the tables that a statement names, and not those which change with them. */
function countingNamed(driver: Driver, versions: Map<string, number>): Driver {
  const count = (text: string): void => {
    const [, table] = /(?:update|into|from) "?(\w+)/.exec(text) ?? []
    if (table !== undefined) versions.set(table, (versions.get(table) ?? 0) + 1)
  }
  const counted =
    (query: Query): Query =>
    (text, ...given) => {
      count(text)
      return query(text, ...given)
    }
  return {
    query: driver.query,
    read: (statement, options) => driver.read(statement, options),
    snapshot: (work, options) => driver.snapshot(work, options),
    write: (text, ...given) => driver.write(text, ...given).finally(() => count(text)),
    transaction: (work, ...given) => driver.transaction((query) => work(counted(query)), ...given),
    [Symbol.asyncDispose]: () => driver[Symbol.asyncDispose](),
  }
}
