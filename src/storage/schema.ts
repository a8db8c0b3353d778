/** What a database holds already, as far as we care. */
export interface ExistingTable {
  readonly name: string
  readonly columns: ReadonlyMap<string, ExistingColumn>
  /** Columns of the primary key, in its order. */
  readonly key: readonly string[]
  /** Columns of each unique constraint or index. */
  readonly uniques: readonly (readonly string[])[]
  /** Names of the indexes, to know ours again. */
  readonly indexes: ReadonlySet<string>
  /** Columns by which an index keeps all rows in the order that we want; where that is not known, none. */
  readonly orders: readonly (readonly string[])[]
  readonly foreignKeys: readonly { readonly columns: readonly string[]; readonly table: string }[]
}

export interface ExistingColumn {
  readonly name: string
  /** As the database spells it. */
  readonly type: string
  readonly nullable: boolean
  /** The database itself keeps anything but valid JSON out. */
  readonly holdsJson: boolean
}

/** One thing done to a database at start, for people. */
export interface SchemaStep {
  readonly done: string
  readonly statements: readonly string[]
}

/** How the schema of a database is treated at start: missing things added, nothing touched, or all made anew. */
export const migrateModes = ['add', 'safe', 'drop'] as const
export type MigrateMode = (typeof migrateModes)[number]
