import { logTable } from '../../capture.ts'

/** The size of a row of the log; the images are not read for it. */
export const imageBytes = '100 + ifnull(octet_length(before), 0) + ifnull(octet_length(after), 0)'

/** The same for a row that was read. */
export const bytesOf = (before: unknown, after: unknown): number =>
  100 + ((before as string | null)?.length ?? 0) + ((after as string | null)?.length ?? 0)

/** Rows of the log that are examined or deleted in one statement, so that other requests are not blocked for long. */
const sliceRows = 2000
const sliceBytes = 4_000_000

/** The last of the rows after a number, up to another one, that one statement may take; null where there are none. */
export const sliceEnd = `select coalesce(max(seq) filter (where bytes <= ${sliceBytes}), min(seq)) from
  (select seq, sum(size) over (order by seq) as bytes from
  (select seq, ${imageBytes} as size from ${logTable} where seq > ? and seq <= ? order by seq limit ${sliceRows}))`
