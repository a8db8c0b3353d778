import type { Json, JsonObject } from '../protocol/json.ts'
import type { Attribute } from './model.ts'

/** The databases for which a computed attribute can have an expression. */
export const sqlDialects = ['sqlite', 'postgres'] as const
export type SqlDialect = (typeof sqlDialects)[number]

/** A function that returns an SQL expression, given the quoted columns of the attributes that it depends on. */
// biome-ignore lint/suspicious/noExplicitAny: texts by the names of the attributes, which the type does not know
export type SqlExpression = (columns: any) => string

/** How the value of a computed attribute follows from others. */
export interface Computation {
  /** The attributes that `get` and `sql` are given. */
  readonly from: readonly Attribute[]
  readonly get: (record: JsonObject) => unknown
  /** Undefined: it cannot be filtered or sorted. */
  readonly sql: { readonly [dialect in SqlDialect]: SqlExpression } | undefined
}

/** The value for a record that has the attributes on which it depends. Throws what `get` throws. */
export function computedValue({ name, type, computed }: Attribute, record: JsonObject): Json {
  if (!computed) throw new Error(`Bug in keelson: "${name}" is not computed`)
  const given: Record<string, Json> = {}
  for (const attribute of computed.from)
    given[attribute.name] = attribute.computed ? computedValue(attribute, record) : (record[attribute.name] ?? null)
  const result = computed.get(given) as Json | Date | undefined
  if (result === null || result === undefined) return null
  const value = type.parse(result instanceof Date ? result.toISOString() : result)
  if (value === undefined)
    throw new TypeError(`The computed attribute "${name}" returned a value that is not ${type.noun}`)
  return value
}

/** The stored attributes that a computed one depends on, also through other computed ones. */
export const storedSources = ({ computed }: Attribute): readonly Attribute[] =>
  (computed?.from ?? []).flatMap((attribute) => (attribute.computed ? storedSources(attribute) : [attribute]))

/** The expression of a computed attribute. `column` quotes the column of a stored one. */
export function expressionOf(
  { name, computed }: Attribute,
  dialect: SqlDialect,
  column: (attribute: Attribute) => string,
): string {
  const expression = computed?.sql?.[dialect]
  if (!expression) throw new Error(`Bug in keelson: "${name}" has no expression for ${dialect}`)
  const columns = computed.from.map((attribute) => [
    attribute.name,
    attribute.computed ? expressionOf(attribute, dialect, column) : column(attribute),
  ])
  return `(${expression(Object.fromEntries(columns))})`
}
