import { logTable } from '../capture.ts'
import type { Connection } from './connection.ts'

/**
 * Gives the rows of the log that one operation wrote a common number and names who caused it. Triggers know neither; a
 * row on its own needs neither, so the ordinary write costs nothing here.
 */
export interface OperationMarker {
  /** The last row of the log so far. */
  begin(): number
  end(before: number, origin: string | undefined): void
}

export const operationMarker = (writer: Connection): OperationMarker => {
  const last = (): number =>
    Number(writer.all(`select seq from sqlite_sequence where name = '${logTable}'`, [])[0]?.[0] ?? 0)
  return {
    begin: last,
    end(before, origin) {
      const grown = last() - before
      if (grown === 0 || (grown === 1 && origin === undefined)) return
      writer.all(`update ${logTable} set operation = ?, origin = ? where seq > ?`, [before + 1, origin ?? null, before])
    },
  }
}
