import type { AttributeType } from '../model/attribute-type.ts'
import type { Model, StoredColumn } from '../model/model.ts'

/** A table that exists in the database. */
export interface ExistingTable {
  readonly name: string
  readonly columns: ReadonlyMap<string, ExistingColumn>
  /** Its columns can be altered and it can have triggers: neither a view nor a foreign table. */
  readonly isTable: boolean
  /** It can have a unique index on any column: neither a view nor partitioned. */
  readonly canBeUnique: boolean
  /** Columns of the primary key, in key order. */
  readonly key: readonly string[]
  /** Columns of each unique constraint or index that includes all rows. */
  readonly uniques: readonly (readonly string[])[]
  /** Names of the indexes. */
  readonly indexes: ReadonlySet<string>
  /** Names of those that belong to a constraint, with which they are dropped. */
  readonly uniqueConstraints?: ReadonlySet<string>
  /** For each index that includes all rows: its terms, as `Dialect.order` writes them, up to the first of another kind. */
  readonly orders: readonly (readonly string[])[]
  readonly foreignKeys: readonly ExistingForeignKey[]
}

export interface ExistingForeignKey {
  readonly columns: readonly string[]
  readonly table: string
  /** The columns of that table that it refers to; none: its primary key. */
  readonly targets: readonly string[]
  /** `on delete cascade` */
  readonly cascades: boolean
  /** `on delete restrict` or `no action`, the default */
  readonly restricts: boolean
  /** Declared only: the database does not check it. */
  readonly isNotEnforced?: boolean | undefined
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
  /** It is declared with a default that is not null. */
  readonly hasDefault: boolean
  /** The expression of its default, as the database writes it. */
  readonly defaultText: string | undefined
  /** Computed by the database from other columns: no statement may contain a value. */
  readonly isComputed: boolean
  /** Texts that are not the same may be equal in it, as in one that ignores letter case. */
  readonly foldsText: boolean
  /** Of its values as texts; none: they are compared by code points. */
  readonly ownComparison?: StoredColumn['ownComparison']
  /** Its times have fractions of milliseconds. */
  readonly hasFractions?: boolean
  /** The database itself rejects invalid JSON. */
  readonly holdsJson: boolean
  /** The database has no comparisons by order for its type. */
  readonly isUnordered?: boolean
}

/** Notes what the database tells of the columns of the attributes. */
export function noteColumns(models: readonly Model[], tables: ReadonlyMap<string, ExistingTable>): void {
  for (const { table, attributes } of models) {
    for (const { stored, type, column: name } of attributes.values()) {
      const column = tables.get(table)?.columns.get(name)
      if (!column) continue
      stored.foldsText = column.foldsText
      stored.ownComparison = ownComparisonOf(column, type)
      stored.isComputed = column.isComputed
      stored.isUnordered = column.isUnordered ?? false
    }
  }
}

function ownComparisonOf(
  { ownComparison, hasFractions }: ExistingColumn,
  { storedAs }: AttributeType,
): StoredColumn['ownComparison'] {
  if (storedAs === 'timestamp' && hasFractions) return 'fraction'
  return storedAs === 'text' ? (ownComparison ?? 'none') : 'none'
}

/** The schema at start: `add` creates what is missing, `safe` changes nothing, `drop` creates all tables again. */
export const migrateModes = ['add', 'safe', 'drop'] as const
export type MigrateMode = (typeof migrateModes)[number]
