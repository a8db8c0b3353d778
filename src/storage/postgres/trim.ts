import type { Driver, Row } from '../driver.ts'
import { firstFloor, type LogTables, setMeta } from './log-tables.ts'
import { parseSnapshot, type Snapshot } from './position.ts'

/** Locks of rows and pages are not held for longer than deleting this many takes. */
const deletedAtOnce = 5_000

/**
 * Lets go of the operations below a floor, and writes the floor down before anything is gone. Nothing that a running
 * transaction may be is below it, so a position whose snapshot begins at the floor or above needs nothing that is gone.
 *
 * By age, the floor is where everything was finished that long ago, not what was written that long ago: the rows of a
 * transaction that ran for hours are old when they are first seen. So every position stays good for the whole time.
 */
export async function trim(
  driver: Driver,
  tables: LogTables,
  keep: { readonly ageMs: number; readonly rows: number },
): Promise<void> {
  const floor = await driver.transaction(
    async (query) => raiseFloor(async (text, values = []) => query(text, values), tables, keep),
    undefined,
  )
  if (floor === undefined) return
  const statement = `with gone as (select ctid from ${tables.log} where tx < $1::xid8 limit ${deletedAtOnce})
    delete from ${tables.log} l using gone where l.ctid = gone.ctid returning 1`
  for (;;) {
    const rows = await driver.transaction((query) => query(statement, [floor]), undefined)
    if (rows.length < deletedAtOnce) return
  }
}

type Run = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>

/** Undefined: there is nothing to let go of, or another process is about it. */
async function raiseFloor(
  run: Run,
  tables: LogTables,
  keep: { readonly ageMs: number; readonly rows: number },
): Promise<string | undefined> {
  const [locked] = await run(`select pg_try_advisory_xact_lock(hashtext($1))`, [`${tables.log} trim`])
  if (locked?.[0] !== 't') return undefined
  const [state] = await run(`select pg_current_snapshot(), value from ${tables.meta} where name = 'floor'`)
  const { xmin } = parseSnapshot(state?.[0] as string) as Snapshot
  const floor = BigInt((state?.[1] as string) ?? firstFloor)

  await run(`insert into ${tables.horizon} values (clock_timestamp(), $1::xid8)`, [String(xmin)])
  const byAge = await run(
    `delete from ${tables.horizon} where at <= clock_timestamp() - $1::float8 * interval '1 millisecond' returning oldest`,
    [String(keep.ageMs)],
  )
  const byRows = await run(`select tx from ${tables.log} order by tx desc offset $1::bigint limit 1`, [
    String(keep.rows),
  ])
  const wanted = [
    ...byAge.map(([horizon]) => BigInt(horizon as string)),
    ...byRows.map(([tx]) => least(BigInt(tx as string) + 1n, xmin)),
  ].reduce(greatest, floor)
  if (wanted === floor) return undefined
  await setMeta(run, tables, 'floor', String(wanted))
  return String(wanted)
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const greatest = (a: bigint, b: bigint): bigint => (a > b ? a : b)
