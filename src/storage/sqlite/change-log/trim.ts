import type { Position } from '../../../protocol/change.ts'
import { yieldToEventLoop } from '../../../support/yield-to-event-loop.ts'
import { logTable, metaTable } from '../../capture.ts'
import type { Keep } from '../../change-log.ts'
import type { Driver, Query } from '../../driver.ts'
import { jobTable } from '../../job-store.ts'
import { type Read, sliceAfter, type TableSize } from '../table-slices.ts'
import { growingLog } from './log-slice.ts'
import { operationTable } from './operation-marker.ts'

/** The last row that was trimmed. */
export const floorQuery = `select value from ${metaTable} where name = 'floor'`

export interface LogState {
  /** The number of the last row that was trimmed. */
  readonly floor: number
  readonly size: Pick<TableSize, 'lastBeyond'>
  readonly seqOf: (position: Position) => number | undefined
}

/** Deletes in slices, with the floor of each in the same transaction. */
export async function trim(driver: Driver, keep: Keep, state: LogState): Promise<void> {
  const read: Read = async (text, values = []) => driver.query(text, values)
  const until = await lastToTrim(read, keep, state)
  for (let from = state.floor; from < until; ) {
    const slice = await sliceAfter(read, growingLog, [from, until])
    if (!slice) return
    const { to } = slice
    const work = async (query: Query) => {
      const [last] = await query(`select seq, at from ${logTable} where seq <= ? order by seq desc limit 1`, [to])
      if (!last) return
      await query(`update ${metaTable} set value = ? where name = 'floor'`, [`${last[0]}:${last[1]}`])
      await query(`delete from ${logTable} where seq <= ?`, [to])
      await query(`delete from ${operationTable} where first <= ? and last <= ?`, [to, to])
    }
    await driver.transaction(work, undefined, { isFirst: true })
    from = to
  }
}

/** The last row to be deleted: kept are the rows after the position of the slowest job, within their own bounds. */
export async function lastToTrim(read: Read, { forJobs, ...keep }: Keep, state: LogState): Promise<number> {
  const { floor, seqOf } = state
  const until = await lastBefore(read, keep, state)
  if (!forJobs || until <= floor) return until
  const [table] = await read(`select 1 from sqlite_schema where name = '${jobTable}'`)
  const positions = table ? await read(`select position from ${jobTable}`) : []
  const held = positions.map(([position]) => seqOf(position as string) ?? -1).filter((seq) => seq >= floor)
  const slowest = Math.min(...held)
  return slowest >= until ? until : Math.max(slowest, await lastToTrim(read, forJobs, state))
}

/** The last row that is too old, or beyond the rows or bytes to be kept; a large log is read in slices. */
async function lastBefore(read: Read, { ageMs, rows, bytes }: Keep, { floor, size }: LogState): Promise<number> {
  const atMs = Date.now() - ageMs
  const newest = Number((await read(`select max(seq) from ${logTable}`))[0]?.[0] ?? 0)
  const beyond = bytes === undefined ? undefined : await size.lastBeyond(bytes)
  let last = Math.max(0, newest - rows, beyond ?? 0)
  for (let from = Math.max(last, floor); ; ) {
    const slice = await sliceAfter(read, growingLog, [from, newest])
    if (!slice) return last
    const range = [from, slice.to, atMs]
    const [row] = await read(`select max(seq) from ${logTable} where seq > ? and seq <= ? and at < ?`, range)
    if (typeof row?.[0] === 'number') last = row[0]
    await yieldToEventLoop()
    from = slice.to
  }
}
