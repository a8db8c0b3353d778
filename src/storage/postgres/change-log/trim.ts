import type { Keep } from '../../change-log.ts'
import type { Driver, Row } from '../../driver.ts'
import { jobTable } from '../../job-store.ts'
import { quoteName } from '../client/text-form.ts'
import { relationSize } from '../relation-size.ts'
import { firstFloor, type LogTables, setMeta } from './log-tables.ts'
import { decodePosition, parseSnapshot, type Snapshot } from './position.ts'

/** Rows deleted in one transaction, so that locks are not held for long. */
const deletedAtOnce = 5_000

/**
 * Deletes the operations below a floor, which is stored before anything is deleted. No running transaction is below the
 * floor, so a position whose snapshot begins at the floor or above needs no deleted row.
 *
 * By age, the floor is the oldest transaction that was running `ageMs` ago. The time of the rows is not used: the rows of
 * a long transaction are old when they become visible. Every position therefore stays valid for `ageMs`.
 */
export async function trim(driver: Driver, tables: LogTables, keep: Keep): Promise<void> {
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

/** Rows whose sizes are added up in one statement; the transaction of the last one is added as a whole. */
const addedAtOnce = 50_000

/**
 * Of the newest transactions below `$1`, the first with which they exceed `$2` bytes, or else the oldest; with their bytes up to it.
 */
const addSizes = ({ log }: LogTables): string =>
  `select tx, bytes from (select tx, sum(100 + coalesce(pg_column_size(before), 0) + coalesce(pg_column_size(after), 0)) over (order by tx desc) as bytes
     from (select tx, before, after from ${log} where tx < $1::xid8 order by tx desc fetch first ${addedAtOnce} rows with ties) l) l
   order by least(bytes, $2::bigint + 1) desc, tx desc limit 1`

const newest = String(2n ** 64n - 1n)

/**
 * The newest transaction that is beyond the bytes to be kept. Sizes are added up only where the table has as many bytes, and in
 * several statements, so that none exceeds the time limit however large the log has become.
 */
async function lastBeyond(run: Run, tables: LogTables, bytes: number): Promise<bigint | undefined> {
  if ((await relationSize(run, tables.log)) <= bytes) return undefined
  for (let [below, left] = [newest, bytes]; ; ) {
    const [found] = await run(addSizes(tables), [below, String(left)])
    if (!found) return undefined
    const [tx, sum] = [found[0] as string, Number(found[1])]
    if (sum > left) return BigInt(tx)
    below = tx
    left -= sum
  }
}

type Run = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>

/** Raises the floor of the log. Undefined if there is nothing to trim, or another process is trimming. */
async function raiseFloor(run: Run, tables: LogTables, keep: Keep): Promise<string | undefined> {
  const [locked] = await run(`select pg_try_advisory_xact_lock(hashtext($1))`, [`${tables.log} trim`])
  if (locked?.[0] !== 't') return undefined
  const [state] = await run(`select pg_current_snapshot(), value from ${tables.meta} where name = 'floor'`)
  const { xmin } = parseSnapshot(state?.[0] as string) as Snapshot
  const floor = BigInt((state?.[1] as string) ?? firstFloor)

  await run(`insert into ${tables.horizon} values (clock_timestamp(), $1::xid8)`, [String(xmin)])
  const wanted = await limited(keep)
  return wanted === floor ? undefined : raise(wanted)

  async function limited({ ageMs, rows, bytes, forJobs }: Keep): Promise<bigint> {
    const byAge = await run(
      `select oldest from ${tables.horizon} where at <= clock_timestamp() - $1::float8 * interval '1 millisecond'`,
      [String(ageMs)],
    )
    const [byRows] = await run(`select tx from ${tables.log} order by tx desc offset $1::bigint limit 1`, [
      String(rows),
    ])
    const beyond = [
      byRows && BigInt(byRows[0] as string),
      bytes === undefined ? undefined : await lastBeyond(run, tables, bytes),
    ]
    const wanted = [
      ...byAge.map(([horizon]) => BigInt(horizon as string)),
      ...beyond.flatMap((tx) => (tx === undefined ? [] : least(tx + 1n, xmin))),
    ].reduce(greatest, floor)
    if (!forJobs || wanted === floor) return wanted
    const slowest = (await heldByJobs(run, tables)).filter((held) => held >= floor).reduce(least, wanted)
    return slowest === wanted ? wanted : greatest(slowest, await limited(forJobs))
  }

  async function raise(to: bigint): Promise<string> {
    await setMeta(run, tables, 'floor', String(to))
    // A horizon above the floor is needed for as long as a job holds the floor below it.
    await run(`delete from ${tables.horizon} where oldest <= $1::xid8`, [String(to)])
    return String(to)
  }
}

/** For each job, the oldest transaction that its position may not have seen. */
async function heldByJobs(run: Run, { schema }: LogTables): Promise<readonly bigint[]> {
  const name = `${quoteName(schema)}.${jobTable}`
  const [table] = await run('select to_regclass($1)', [name])
  if (table?.[0] === null) return []
  const rows = await run(`select position from ${name}`)
  return rows.flatMap(([position]) => decodePosition(position as string)?.from.xmin ?? [])
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const greatest = (a: bigint, b: bigint): bigint => (a > b ? a : b)
