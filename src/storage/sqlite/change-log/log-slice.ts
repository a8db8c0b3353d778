import { logTable } from '../../capture.ts'
import type { GrowingTable } from '../table-slices.ts'

/** The size of a row of the log; the images are not read for it. */
export const imageBytes = '100 + ifnull(octet_length(before), 0) + ifnull(octet_length(after), 0)'

/** The same for a row that was read. */
export const bytesOf = (before: unknown, after: unknown): number =>
  100 + ((before as string | null)?.length ?? 0) + ((after as string | null)?.length ?? 0)

/** `seq` is the number of its rows. */
export const growingLog: GrowingTable = { name: logTable, rowBytes: imageBytes }
