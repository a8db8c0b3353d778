import type { Truth } from './models.ts'
import { postgresOutsider } from './postgres-outsider.ts'
import { sqliteOutsider } from './sqlite-outsider.ts'
import { first, type Sql } from './tables.ts'

/** A program that knows nothing of the service, and writes to the same tables. */
export interface Outsider extends AsyncDisposable {
  /** All of it in one transaction; false: it was refused, or undone as asked. */
  write(statements: readonly Sql[], end?: 'commit' | 'rollback'): Promise<boolean>
  /** Marks a moment in every table while nobody else writes, and tells what is true then, before anybody can hear it. */
  fence(mark: string, isTrue: (truth: Truth) => void): Promise<void>
  /** Breaks the log on purpose. */
  breakLog(): Promise<void>
}

/** The tables must be there. */
export async function openOutsider(url: string): Promise<Outsider> {
  const outsider = url.startsWith('sqlite:') ? sqliteOutsider(url.slice('sqlite:'.length)) : await postgresOutsider(url)
  if (!(await outsider.write(first))) throw new Error('the first records were refused')
  return outsider
}
