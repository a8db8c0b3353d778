import type { Attribute, Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { Sql } from './sql.ts'

export type Direction = 'asc' | 'desc'

/** What one database must spell in its own way. Everything else is said once, in plain SQL. */
export interface Dialect {
  readonly name: string
  readonly placeholder: string | ((number: number) => string)
  /** A quoted name; only ever called with names out of a model. */
  identifier(name: string): string
  /** The type of a column that we create. */
  columnType(attribute: Attribute): string
  /** A value of the attribute's type, as the driver takes it. Never called with null. */
  encode(attribute: Attribute, value: Json): unknown
  /** What a row holds in this column, as the value that the API knows. Null stays null. */
  decode(attribute: Attribute, value: unknown): Json
  /** As `decode`, for a value out of an image that a trigger wrote. */
  decodeImage(attribute: Attribute, value: unknown): Json
  /**
   * Source text of a JavaScript expression that turns the driver's value, in the variable `v` and not null, into JSON
   * text; undefined: decode it and stringify. It may call `quote(text)`. Encoders are compiled from these.
   */
  encoderSource(attribute: Attribute): string | undefined
  /**
   * The column in a select list, so that `decode` meets what it expects. `sound`: the database itself keeps anything
   * out that is not of the attribute's form.
   */
  selected(attribute: Attribute, column: string, sound: boolean): string
  /** The column as it is compared with operands and sorted. */
  compared(attribute: Attribute, column: string): string
  /** A bound operand that is compared with the column. */
  operand(attribute: Attribute, value: Json): Sql
  /** As `operand`, for a value that this database gave in a row. */
  bound(attribute: Attribute, value: unknown): Sql
  /**
   * A relation `keelson_p` of the keys, in their order: `keelson_key`, and `keelson_n` counted from 1. One bound
   * parameter, however many they are.
   */
  keys(attribute: Attribute, keys: readonly Json[]): Sql
  /**
   * Joins to `keelson_p` the rows of a table whose keys `ids` selects for one of its keys: a seek for each, never a
   * window over all.
   */
  seek(table: string, primaryKey: string, ids: Sql): Sql
  /** True when the column holds one of the values. One bound parameter, however many they are. */
  isOneOf(attribute: Attribute, column: string, values: readonly Json[]): Sql
  contains(column: string, text: string): Sql
  startsWith(column: string, text: string): Sql
  endsWith(column: string, text: string): Sql
  /** `%` is any text, `_` one character, and a backslash makes the next character an ordinary one. Case matters. */
  like(column: string, pattern: string): Sql
  /** Nulls first ascending and last descending, on every database. */
  order(attribute: Attribute, column: string, direction: Direction): string
  /** A comparison of whole rows seeks in an index by all their columns. */
  readonly seeksRows: boolean
  /** Selects of one order that are joined by `union all` are each read only as far as the limit of all needs them. */
  readonly mergesSelects: boolean
  /** `limit` and `skip`. */
  page(limit: number, skip: number): Sql
  /** Behind a select in a transaction: nobody else may change the row until it ends. */
  readonly lock: string
  /** Behind an insert: a row whose key is there already is left as it is. */
  readonly ifMissing: string
  /** An insert that gives no value at all. */
  insertDefaults(model: Model): string
}
