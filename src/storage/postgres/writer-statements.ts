import { hostname } from 'node:os'
import type { Row } from '../driver.ts'
import type { LogTables } from './change-log/log-tables.ts'
import type { Snapshot } from './change-log/position.ts'
import type { Connection } from './client/connection.ts'
import { arrayOf } from './client/text-form.ts'

/** Advisory locks of the database: "kels", 1 for the only writer, 2 for each connection that writes. */
const lockClass = 0x6b656c73
const soleWriter = 1
const writingConnection = 2

const locks = (object: number): string =>
  `pg_locks l where l.locktype = 'advisory' and l.database = (select oid from pg_database where datname = current_database())
   and l.classid = ${lockClass} and l.objid = ${object} and l.objsubid = 2 and l.granted`

const run = (connection: Connection, text: string, values: readonly string[] = []): Promise<readonly Row[]> =>
  connection.run({ text, values, how: 'kept' })

/** For as long as the connection lives, whatever becomes of its client. Nothing waits for this lock, and it waits for none. */
export const markAsWriting = (connection: Connection): Promise<readonly Row[]> =>
  run(connection, `select pg_advisory_lock_shared(${lockClass}, ${writingConnection})`)

/** Whether the connection now has the lock of the only writer. */
export async function takeWriterLock(connection: Connection): Promise<boolean> {
  await run(connection, `select set_config('application_name', $1, false)`, [
    `keelson writer, process ${process.pid} on ${hostname()}`.slice(0, 63),
  ])
  const [row] = await run(connection, `select pg_try_advisory_lock(${lockClass}, ${soleWriter})`)
  return row?.[0] === 't'
}

/** The process that has the lock of the only writer, for a message. The server hides names of sessions of other roles. */
export async function writerLockHolder(connection: Connection): Promise<string> {
  const [row] = await run(
    connection,
    `select l.pid, (select case when application_name like 'keelson writer%' then application_name end from pg_stat_activity a where a.pid = l.pid)
     from ${locks(soleWriter)}`,
  )
  if (!row) return 'another process'
  const [pid, name] = row as readonly [string, string | null]
  const session = `server process ${pid}`
  return name === null ? session : `${name.replace('keelson writer, ', '')} (${session})`
}

/** What was found at one moment while the lock was held. */
export interface WriterCheck {
  /** The server processes of all connections that write. */
  readonly writing: readonly number[]
  readonly snapshot: string
  /** The tables that were changed by transactions that the snapshot sees and the one before did not. */
  readonly changed: readonly string[]
}

const latest = '18446744073709551615'

export async function checkWriters(
  connection: Connection,
  log: LogTables | undefined,
  since: Snapshot | undefined,
): Promise<WriterCheck> {
  const changed =
    log &&
    `(select array_to_json(array_agg(distinct c."table")) from
       (select capture from ${log.log} where tx >= $1::xid8 union all select capture from ${log.log} where tx = any($2::xid8[])) l
       join ${log.capture} c on c.id = l.capture)`
  const [row] = await run(
    connection,
    `select (select array_to_json(array_agg(distinct l.pid)) from ${locks(writingConnection)}), pg_current_snapshot()::text, ${changed ?? 'null'}`,
    log ? [String(since?.xmax ?? latest), arrayOf(since?.running ?? [])] : [],
  )
  const [writing, snapshot, tables] = row as readonly [string | null, string, string | null]
  return { writing: JSON.parse(writing ?? '[]'), snapshot, changed: JSON.parse(tables ?? '[]') }
}
