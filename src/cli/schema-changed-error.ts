import { errorText } from '../support/error-text.ts'

/** A start that failed after it had changed the schema, which the next start does not report any more. */
export class SchemaChangedError extends Error {
  /** The changes, as one line. */
  readonly changes: string

  constructor(changes: string, cause: unknown) {
    super(errorText(cause), { cause })
    this.name = 'SchemaChangedError'
    this.changes = changes
    if (cause instanceof Error && cause.stack !== undefined) this.stack = cause.stack
  }
}
