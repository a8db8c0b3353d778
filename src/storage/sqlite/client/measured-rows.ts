import type { SQLInputValue, StatementSync } from 'node:sqlite'
import { isBytes } from '../../../support/is-bytes.ts'
import type { Row } from '../../driver.ts'

/** Values of at most so many bytes are short: rows of them are read at once, and their bytes counted afterwards. */
export const shortBytes = 2048
/** Rows of short values that have fewer bytes than this are not counted. */
const fewBytes = 1_000_000
/** SQLite allows no longer value. */
export const maxLength = 1_000_000_000

/** Rows, and the bytes of their values as far as they are many. */
export interface MeasuredRows {
  readonly rows: readonly Row[]
  readonly bytes: number
}

/** Thrown for rows that have more bytes than they may have. */
export class RowsTooLarge extends Error {}

/** SQLite knows the length of a value before it is read: in bytes of UTF-8, of which a character has three at most. */
export const lengthOf = (characters: number): number => Math.min(Math.max(characters * 3, fewBytes), maxLength)

/** Values that are bound must not be longer either. */
export function longest(values: readonly unknown[], length: number): number {
  let most = length
  for (const value of values) {
    if (typeof value === 'string' && value.length * 3 > most) most = value.length * 3
  }
  return most
}

/** Reads row by row, so that a value that is too long, or too many of them, end it early. Throws RowsTooLarge. */
export function step(
  statement: StatementSync,
  values: readonly unknown[],
  maxBytes: number,
  onStep: () => void,
): MeasuredRows {
  const rows: Row[] = []
  let bytes = 0
  const found = statement.iterate(...(values as SQLInputValue[])) as unknown as IteratorObject<Row>
  try {
    for (const row of found) {
      onStep()
      bytes += rowSize(row)
      if (bytes > maxBytes) throw new RowsTooLarge()
      rows.push(row)
    }
    return { rows, bytes }
  } finally {
    // After a row that cannot be returned the statement is not ended, and the connection would read the same state from then on.
    found.return?.()
  }
}

/** Counts rows of short values. */
export function measured(rows: readonly Row[], maxBytes: number): MeasuredRows {
  const atMost = rows.length * (rows[0]?.length ?? 0) * shortBytes
  if (atMost < fewBytes && atMost < maxBytes) return { rows, bytes: 0 }
  let bytes = 0
  for (const row of rows) bytes += rowSize(row)
  if (bytes > maxBytes) throw new RowsTooLarge()
  return { rows, bytes }
}

/** The size of the texts and bytes of a row; other values are short. */
export function rowSize(row: Row): number {
  let bytes = 0
  for (const value of row) {
    if (typeof value === 'string') bytes += value.length
    else if (isBytes(value)) bytes += value.length
  }
  return bytes
}
