import type { TestContext } from 'node:test'
import { ChangeNotifier } from '../../src/storage/change-notifier.ts'
import { DatabaseError, type DatabaseErrorKind, type Query } from '../../src/storage/driver.ts'
import { Connection } from '../../src/storage/sqlite/client/connection.ts'
import { GroupCommitQueue } from '../../src/storage/sqlite/client/group-commit-queue.ts'
import { defaultLimits } from '../../src/support/limits.ts'

/** A connection that records its statements. */
class WatchedConnection extends Connection {
  readonly statements: string[] = []
  /** Called before a statement is run. */
  before: (text: string) => void = () => {}

  override exec(text: string): void {
    this.before(text)
    this.statements.push(text)
    super.exec(text)
  }

  get commits(): number {
    return this.statements.filter((text) => text === 'commit').length
  }
}

export const tables = `
  create table pet (id integer primary key autoincrement, name text unique);
  create table toy (id integer primary key, pet integer references pet deferrable initially deferred);`

/** Stops the clock that durations are measured with: nothing takes long, however busy the machine is. */
export const stopTime = (t: TestContext) => t.mock.method(performance, 'now', () => 0)

/** A queue over a database with two tables, closed after the test. */
export function open(t: TestContext, { setUp = tables, limits = {}, path = ':memory:' } = {}) {
  const connection = new WatchedConnection(path, { readOnly: false })
  connection.exec(`${path === ':memory:' ? '' : 'pragma journal_mode = wal;'}${setUp}`)
  const notifier = new ChangeNotifier()
  let woken = 0
  notifier.call = () => woken++
  notifier.add(() => {})
  const writer = new GroupCommitQueue(connection, { ...defaultLimits, ...limits }, notifier)
  t.after(async () => {
    await writer.close()
    connection[Symbol.dispose]()
  })
  const single = (text: string, ...values: unknown[]) =>
    writer.run((query) => query(text, values), { single: true, origin: undefined })
  return {
    connection,
    writer,
    single,
    add: (name: string) => single('insert into pet (name) values (?) returning id', name),
    several: <T>(work: (query: Query) => T | Promise<T>) => writer.run(work, { single: false, origin: undefined }),
    names: () => connection.all('select name from pet order by id', []).map(([name]) => name),
    get woken() {
      return woken
    },
  }
}

export const refused = (kind: DatabaseErrorKind['kind']) => (error: unknown) =>
  error instanceof DatabaseError && error.reason.kind === kind

/** `done` or the kind of the error, for each write. */
export const outcomes = async (writes: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(writes)).map((result) =>
    result.status === 'fulfilled' ? 'done' : (result.reason as DatabaseError).reason.kind,
  )
