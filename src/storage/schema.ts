/** A table that exists in the database. */
export interface ExistingTable {
  readonly name: string
  readonly columns: ReadonlyMap<string, ExistingColumn>
  /** It can have a unique index on any column: neither a view nor partitioned. */
  readonly canBeUnique: boolean
  /** Columns of the primary key, in key order. */
  readonly key: readonly string[]
  /** Columns of each unique constraint or index that includes all rows. */
  readonly uniques: readonly (readonly string[])[]
  /** Names of the indexes. */
  readonly indexes: ReadonlySet<string>
  /** For each index that includes all rows: its terms, as `Dialect.order` writes them, up to the first of another kind. */
  readonly orders: readonly (readonly string[])[]
  readonly foreignKeys: readonly { readonly columns: readonly string[]; readonly table: string }[]
}

export interface ExistingColumn {
  readonly name: string
  /** As declared in the database. */
  readonly type: string
  readonly nullable: boolean
  /** An insert must contain a value: null is refused, and there is no default. */
  readonly mustBeGiven: boolean
  /** Null is stored when an insert contains no value: there is no default. */
  readonly becomesNull: boolean
  /** Computed by the database from other columns: no statement may contain a value. */
  readonly isComputed: boolean
  /** The database itself rejects invalid JSON. */
  readonly holdsJson: boolean
}

/** The schema at start: `add` creates what is missing, `safe` changes nothing, `drop` creates all tables again. */
export const migrateModes = ['add', 'safe', 'drop'] as const
export type MigrateMode = (typeof migrateModes)[number]
