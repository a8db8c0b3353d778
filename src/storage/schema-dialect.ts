import type { Attribute } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { Dialect } from '../sql/dialect.ts'

/** The SQL of table definitions that differs between databases. */
export interface SchemaDialect extends Dialect {
  /** The definition, after the name, of a primary key that the database generates in ascending order. */
  readonly countedKey: string
  /** A constant in a definition. Called only with values of a model. */
  literal(attribute: Attribute, value: Json): string
  /** A check that rejects values that are not JSON; '' where the type of the column does. */
  jsonCheck(column: string): string
}
