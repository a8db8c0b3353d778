import type { Position } from '../../../protocol/change.ts'
import { yieldToEventLoop } from '../../../support/yield-to-event-loop.ts'
import { logTable, metaTable } from '../../capture.ts'
import type { Keep } from '../../change-log.ts'
import type { Driver, Row } from '../../driver.ts'
import { jobTable } from '../../job-store.ts'
import { sliceEnd } from './log-slice.ts'
import { operationTable } from './operation-marker.ts'

/** The last row that was trimmed. */
export const floorQuery = `select value from ${metaTable} where name = 'floor'`

interface Trimmed {
  /** The number of the last row that was trimmed before. */
  readonly floor: number
  readonly seqOf: (position: Position) => number | undefined
}

/** Deletes in slices, with the floor of each in the same transaction. */
export async function trim(driver: Driver, keep: Keep, { floor, seqOf }: Trimmed): Promise<void> {
  const read: Read = async (text, values = []) => driver.query(text, values)
  const until = await lastToTrim(read, keep, floor, seqOf)
  for (let from = floor; from < until; ) {
    const to = await trimmedTogether(read, from, until)
    if (to === undefined) return
    await driver.transaction(async (query) => {
      const [last] = await query(`select seq, at from ${logTable} where seq <= ? order by seq desc limit 1`, [to])
      if (!last) return
      await query(`update ${metaTable} set value = ? where name = 'floor'`, [`${last[0]}:${last[1]}`])
      await query(`delete from ${logTable} where seq <= ?`, [to])
      await query(`delete from ${operationTable} where first <= ? and last <= ?`, [to, to])
    }, undefined)
    from = to
  }
}

type Read = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>

/** The last row to be deleted: kept are the rows after the position of the slowest job, within their own bounds. */
export async function lastToTrim(
  read: Read,
  { ageMs, rows, forJobs }: Keep,
  floor: number,
  seqOf: (position: Position) => number | undefined,
): Promise<number> {
  const until = await lastBefore(read, Date.now() - ageMs, rows, floor)
  if (!forJobs || until <= floor) return until
  const [table] = await read(`select 1 from sqlite_schema where name = '${jobTable}'`)
  const positions = table ? await read(`select position from ${jobTable}`) : []
  const held = positions.map(([position]) => seqOf(position as string) ?? -1).filter((seq) => seq >= floor)
  const slowest = Math.min(...held)
  return slowest >= until ? until : Math.max(slowest, await lastToTrim(read, forJobs, floor, seqOf))
}

/** The last row that is older than a time, or beyond the number of rows to be kept; a large log is read in slices. */
async function lastBefore(read: Read, atMs: number, rows: number, floor: number): Promise<number> {
  const newest = Number((await read(`select max(seq) from ${logTable}`))[0]?.[0] ?? 0)
  let last = Math.max(0, newest - rows)
  for (let from = Math.max(last, floor); ; ) {
    const to = await trimmedTogether(read, from, newest)
    if (to === undefined) return last
    const range = [from, to, atMs]
    const [row] = await read(`select max(seq) from ${logTable} where seq > ? and seq <= ? and at < ?`, range)
    if (typeof row?.[0] === 'number') last = row[0]
    await yieldToEventLoop()
    from = to
  }
}

/** The last of the rows after `from` that are examined, or deleted in one transaction: others have their turn in between. */
async function trimmedTogether(read: Read, from: number, until: number): Promise<number | undefined> {
  const [row] = await read(sliceEnd, [from, until])
  return row?.[0] === null ? undefined : Number(row?.[0])
}
