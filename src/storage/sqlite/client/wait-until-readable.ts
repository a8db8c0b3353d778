import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { isBusy } from '../errors.ts'
import { retryWhileBusy } from './retry-while-busy.ts'

/**
 * Waits while another program has locked a file against readers, too, as it does where the journal is no WAL: a connection could
 * not prepare its statements. Any other error is left to the connection.
 */
export async function waitUntilReadable(path: string, limitMs: number): Promise<void> {
  if (!existsSync(path)) return
  try {
    using database = new DatabaseSync(path, { readOnly: true, timeout: 0 })
    await retryWhileBusy(() => database.exec('select 1 from sqlite_schema'), limitMs)
  } catch (error) {
    if (isBusy(error)) throw error
  }
}
