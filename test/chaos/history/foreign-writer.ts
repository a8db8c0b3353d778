import type { Truth } from './models.ts'
import { postgresWriter } from './postgres-writer.ts'
import { sqliteWriter } from './sqlite-writer.ts'
import { first, type Sql } from './tables.ts'

/** A program that does not use the service and writes to the same tables. */
export interface ForeignWriter extends AsyncDisposable {
  /** Whether the rows of one of its transactions are one operation in the change log. */
  readonly isOneOperation: boolean
  /** All statements in one transaction; false: it was refused, or rolled back as requested. */
  write(statements: readonly Sql[], end?: 'commit' | 'rollback'): Promise<boolean>
  /** Marks a moment in every table under a lock, and passes the content of the tables before any event of it is sent. */
  fence(mark: string, isTrue: (truth: Truth) => void): Promise<void>
  /** Breaks the log on purpose. */
  breakLog(): Promise<void>
}

/** The tables must be there. */
export async function openForeignWriter(url: string): Promise<ForeignWriter> {
  const foreignWriter = url.startsWith('sqlite:')
    ? sqliteWriter(url.slice('sqlite:'.length))
    : await postgresWriter(url)
  if (!(await foreignWriter.write(first))) throw new Error('the first records were refused')
  return foreignWriter
}
