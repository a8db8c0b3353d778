import type { StorageClass } from '../model/attribute-type.ts'
import type { SqlDialect } from '../model/computed.ts'
import type { Attribute, Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { Sql } from './sql.ts'

/** What a database can do, where statements or schema steps depend on it. */
export interface Capabilities {
  /** A row comparison seeks in an index by all of its columns. */
  readonly seeksRows: boolean
  /** Sorted selects joined by `union all` are merged and read only as far as the common limit needs. */
  readonly mergesSelects: boolean
  /** The rows of a cross join come in the order of its left side, and what an `in` finds by a key in the order of the key. */
  readonly joinsInOrder: boolean
  /** Its planner chooses how `exists (select …)` is evaluated. Otherwise `in (select …)` is used, which is evaluated whole, for few values as well. */
  readonly correlates: boolean
  /** Foreign keys can be added to a table that exists; otherwise they are part of the column definition. */
  readonly addsForeignKeys: boolean
  /**
   * About how many rows one statement writes; further ones follow in later turns of the event loop. Absent where the database runs
   * in another process.
   */
  readonly sliceRows?: number
}

export type Direction = 'asc' | 'desc'

/** The SQL that differs between databases. Everything else is plain SQL, written once. */
export interface Dialect {
  readonly name: SqlDialect
  readonly capabilities: Capabilities
  readonly placeholder: string | ((number: number) => string)
  /** A quoted identifier; called only with names from a model. */
  identifier(name: string): string
  /** The type of a column in a table that Keelson creates. */
  columnType(attribute: Attribute): string
  /** The storage classes whose values are bound as they are: `encode` returns them unchanged. */
  readonly boundAsIs: ReadonlySet<StorageClass>
  /** Whether only the date of a time is written. Absent where the database does it itself, by the type of the column. */
  writesDate?(attribute: Attribute): boolean
  /** A value of the attribute's type as the driver accepts it. Never called with null. */
  encode(attribute: Attribute, value: Json): unknown
  /** A column value of a row as an API value. Null stays null. */
  decode(attribute: Attribute, value: unknown): Json
  /** As `decode`, for a value from an image that a trigger wrote. */
  decodeImage(attribute: Attribute, value: unknown): Json
  /**
   * Source of a JavaScript expression that turns the driver's value `v`, never null, into JSON text. It may contain `other(v)`,
   * which decodes and stringifies the value; an expression with `quote(v)`, the value as a JSON string, results in one of these
   * two calls only. Undefined stands for `other(v)`. Encoders are compiled from it.
   */
  encoderSource(attribute: Attribute): string | undefined
  /**
   * The column in a select list, in the form that `decode` expects. `hasJsonCheck`: the database itself rejects values
   * that are not JSON.
   */
  selected(attribute: Attribute, column: string, hasJsonCheck: boolean): string
  /** An expression of the application as a value of the attribute's type, compared like a column of it. */
  expression(attribute: Attribute, text: string): string
  /** The column in comparisons and sorting. */
  compared(attribute: Attribute, column: string): string
  /** True when the column has this JSON value, given as canonical text. */
  sameJson(attribute: Attribute, column: string, text: string): Sql
  isNull(attribute: Attribute, column: string): string
  isNotNull(attribute: Attribute, column: string): string
  /** A bound operand of a comparison with the column. */
  operand(attribute: Attribute, value: Json): Sql
  /** As `operand`, for a value that this database returned in a row. */
  bound(attribute: Attribute, value: unknown): Sql
  /**
   * A relation `keelson_p` of the keys in their order: `keelson_key`, and `keelson_n` counted from 1. All keys are one
   * bound parameter.
   */
  keys(attribute: Attribute, keys: readonly Json[]): Sql
  /**
   * Joins to `keelson_p` the rows of a table whose keys are selected by `ids` for one of its keys: one index seek for each
   * key, never a window over all rows.
   */
  seek(table: Sql, primaryKey: string, ids: Sql): Sql
  /** True when the column has one of the values. All values are one bound parameter. */
  isOneOf(attribute: Attribute, column: string, values: readonly Json[]): Sql
  /**
   * A condition that is tested row by row, beside a list of the keys of all rows in question. Absent where the planner knows that
   * such a list has fewer rows than any value of another index.
   */
  unindexed?(condition: Sql): Sql
  /** A comparison that many rows may fulfil, as an index of several columns serves it. Absent where the planner knows how many. */
  frequent?(comparison: Sql): Sql
  contains(column: string, text: string): Sql
  startsWith(column: string, text: string): Sql
  endsWith(column: string, text: string): Sql
  /** `%` is any text, `_` one character, a backslash escapes the next character. Case-sensitive. */
  like(column: string, pattern: string, attribute: Attribute): Sql
  /** As `like`, whatever the letter case. */
  ilike(column: string, pattern: string, attribute: Attribute): Sql
  /** Nulls come first ascending and last descending, on every database. */
  order(attribute: Attribute, column: string, direction: Direction): string
  /**
   * A true term that stops the statement when its time on the event loop is over, evaluated for about one in `rowsPerCheck`
   * rows of the model's table; a power of two. Absent where the database runs in another process.
   */
  rowGuard?(model: Model, rowsPerCheck: number): string
  /** The number of bytes of a column with texts, JSON or bytes, from the stored length where the database has one. */
  octets(attribute: Attribute, column: string): string
  /** `limit` and `skip`. `isFixed`: no request chooses the limit, so that it may be part of the text. */
  page(limit: number, skip: number, isFixed?: boolean): Sql
  /** An expression for the operation of the change log that a writing statement belongs to. Absent where the driver provides it. */
  readonly operation?: string
  /** Suffix of a select that locks the row until the transaction ends. */
  readonly lock: string
  /** Suffix of an insert that skips a row whose key exists. */
  readonly ifMissing: string
  /** The values of an insert without assignments. */
  insertDefaults(model: Model): string
}
