import type { Assignment } from '../model/assignment.ts'
import type { Model } from '../model/model.ts'
import type { Maybe } from '../support/maybe.ts'

/** Rows as arrays, in the order of the select list. */
export type Row = readonly unknown[]
export type Query = (text: string, values: readonly unknown[]) => Maybe<readonly Row[]>

/** How long a statement may be expected to take: by key or index, or however long the table is. */
export type Weight = 'short' | 'long'

/** A connection to one database, or several. Every fault leaves it as a DatabaseError. */
export interface Driver extends AsyncDisposable {
  /** Reads what is committed. */
  read(text: string, values: readonly unknown[], weight: Weight): Maybe<readonly Row[]>
  /** Several readings of one and the same moment. */
  snapshot<T>(work: (query: Query) => Maybe<T>): Maybe<T>
  /** One writing statement, a transaction of its own; resolved when it is durable. */
  write(text: string, values: readonly unknown[], origin: string | undefined): Promise<readonly Row[]>
  /** `work` may run again from its beginning. */
  transaction<T>(work: (query: Query) => Maybe<T>, origin: string | undefined): Promise<T>
}

/** What a database may complain of, in words that are the same for all of them. */
export type Fault =
  | { readonly kind: 'unique'; readonly table: string; readonly columns: readonly string[] }
  | { readonly kind: 'foreignKey'; readonly table?: string | undefined; readonly columns?: readonly string[] }
  | { readonly kind: 'notNull'; readonly column: string }
  /** A value the column cannot hold: out of its range, too long, against a check of the database's own. */
  | { readonly kind: 'value'; readonly column?: string | undefined }
  /** Another program holds it, or two transactions were in each other's way: the same again may succeed. */
  | { readonly kind: 'busy' }
  /** The statement took longer than it may. */
  | { readonly kind: 'timeout' }
  /** It cannot be reached, or is not in a state to answer. */
  | { readonly kind: 'lost' }
  /** It will not let us: no permission, read only, disk full. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'unknown' }

export class DatabaseError extends Error {
  readonly fault: Fault
  /** What was being written, noted on the way out of a transaction. */
  about: { readonly model: Model; readonly assignments: readonly Assignment[] } | undefined

  constructor(fault: Fault, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'DatabaseError'
    this.fault = fault
  }
}
