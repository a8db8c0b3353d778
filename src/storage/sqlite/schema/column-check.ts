import type { StorageClass } from '../../../model/attribute-type.ts'
import type { ColumnCheck } from '../../check-schema.ts'
import { sqliteDialect } from '../dialect.ts'
import type { SqliteColumn } from './inspect.ts'

const { identifier } = sqliteDialect

type Affinity = 'integer' | 'real' | 'numeric' | 'text' | 'none'

/** https://sqlite.org/datatype3.html#determination_of_column_affinity */
export function affinityOf(type: string): Affinity {
  if (/INT/i.test(type)) return 'integer'
  if (/CHAR|CLOB|TEXT/i.test(type)) return 'text'
  if (/BLOB/i.test(type) || type === '') return 'none'
  return /REAL|FLOA|DOUB/i.test(type) ? 'real' : 'numeric'
}

const numbers: readonly Affinity[] = ['integer', 'real', 'numeric', 'none']

/**
 * The affinities that return what was stored: text that looks like a number becomes one, and a number becomes text. A class
 * that is not listed is never converted; only numbers in JSON are, and stay JSON.
 */
const faithful: Readonly<Partial<Record<StorageClass, readonly Affinity[]>>> = {
  text: ['text', 'none'],
  integer: numbers,
  bigint: ['integer', 'numeric', 'none'],
  real: numbers,
  boolean: numbers,
}

/** The types of a strict table, which refuses other values. `any` holds all. */
const strictTypes: Readonly<Record<StorageClass, readonly string[]>> = {
  text: ['text'],
  integer: ['int', 'integer', 'real'],
  bigint: ['int', 'integer'],
  real: ['real'],
  boolean: ['int', 'integer', 'real'],
  json: ['text'],
  timestamp: ['text'],
  uuid: ['text'],
  binary: ['blob'],
}

/** An INTEGER PRIMARY KEY refuses what is not an integer, unlike every other column of a table that is not strict. */
const rowIds: readonly StorageClass[] = ['integer', 'bigint', 'real']

/** Values of these declared types are written as text that never looks like a number. */
const textLike = /DATE|TIME|UUID|JSON/i

export const sqliteColumns: ColumnCheck<SqliteColumn> = {
  holds({ columnType, type: { storedAs } }, { type, isStrict, isRowId, holdsJson }) {
    if (isRowId) return rowIds.includes(storedAs)
    if (storedAs === 'text' && columnType !== undefined) return true
    if (holdsJson) return storedAs === 'json'
    if (isStrict) return ['any', ...strictTypes[storedAs]].includes(type.toLowerCase())
    const affinity = affinityOf(type)
    if (storedAs === 'text' && affinity === 'numeric' && textLike.test(type)) return true
    return faithful[storedAs]?.includes(affinity) ?? true
  },

  typeOf: ({ type, holdsJson }) => (holdsJson ? `${type}, checked to be JSON` : type),

  // A column contains values of any type.
  attributeType: () => undefined,

  // The triggers of the change log prevent dropping a column, and renaming it would change what they capture.
  changeType: (_, { column, type: { storedAs } }) =>
    `store it in another column: with columnName: '${column}_${storedAs}' and migrate: 'add', the next start creates the column; then copy the values`,

  // SQLite compares a text and a number as numbers.
  compares: () => true,

  makeUnique: (table, ...columns) =>
    `create unique index ${identifier([table, ...columns, 'key'].join('_'))} on ${identifier(table)} (${columns.map(identifier).join(', ')})`,

  allowNull: (table, column) =>
    `alter table ${identifier(table)} alter column ${identifier(column)} drop not null (SQLite 3.53 or newer)`,
}
