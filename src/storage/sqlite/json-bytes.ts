import { DatabaseSync, type StatementSync } from 'node:sqlite'

/** Bytes in a column of JSON as a JSON text: JSONB, the binary form of SQLite, as what it means, and others as their digits. */
export const jsonOfBytes = (bytes: string): string =>
  `case when json_valid(${bytes}, 8) then json(${bytes}) else json_quote(hex(${bytes})) end`

let statement: StatementSync | undefined

/** The same of bytes that are not in a table: a trigger cannot convert them, because the SQLite of its program may not know JSONB. */
export function jsonTextOf(bytes: Uint8Array): string {
  statement ??= new DatabaseSync(':memory:').prepare(`select ${jsonOfBytes('?1')} as text`)
  return (statement.get(bytes) as { text: string }).text
}
