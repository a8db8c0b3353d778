import type { Index, IndexComparison, Model } from '../model/model.ts'
import type { ExistingTable } from './schema.ts'
import type { SchemaDialect } from './schema-dialect.ts'
import { schemaName } from './schema-name.ts'

export function createIndex(model: Model, index: Index, dialect: SchemaDialect): string {
  const quote = dialect.identifier
  const where = whereOf(index, dialect)
  const kind = index.unique ? 'unique index' : 'index'
  const name = quote(indexName(model, index))
  return `create ${kind} ${name} on ${quote(model.table)} (${termsOf(index, dialect).join(', ')})${where && ` where ${where}`}`
}

/** The condition of a partial index; empty for one of all rows. */
export const whereOf = ({ where }: Index, dialect: SchemaDialect): string =>
  where.map((comparison) => condition(comparison, dialect)).join(' and ')

/** The columns with their directions. */
const termsOf = ({ columns }: Index, dialect: SchemaDialect): readonly string[] =>
  columns.map(({ attribute, direction }) => dialect.order(attribute, dialect.identifier(attribute.column), direction))

function condition({ attribute, operator, value }: IndexComparison, dialect: SchemaDialect): string {
  const column = dialect.identifier(attribute.column)
  if (value === null) return `${column} is ${operator === '=' ? '' : 'not '}null`
  const compared = dialect.compared(attribute, column)
  return `${compared} ${operator === '=' ? '=' : '<>'} ${dialect.literal(attribute, value)}`
}

/** Depends on the whole definition: a changed definition is another index. */
export function indexName(model: Model, { columns, unique, where }: Index): string {
  const names = columns.map(({ attribute }) => attribute.column)
  const isPlain = where.length === 0 && columns.every(({ direction }) => direction === 'asc')
  const details = [
    columns.map(({ direction }) => direction),
    where.map(({ attribute, operator, value }) => [attribute.column, operator, value]),
  ]
  return schemaName([model.table, ...names], unique ? 'key' : 'idx', isPlain ? undefined : JSON.stringify(details))
}

/** Whether an existing index has this name, or the same effect. Conditions are written differently by each database. */
export function isPresent(
  model: Model,
  index: Index,
  table: ExistingTable | undefined,
  dialect: SchemaDialect,
): boolean {
  if (!table) return false
  if (table.indexes.has(indexName(model, index))) return true
  if (index.where.length > 0) return false
  if (index.unique) {
    const names = index.columns.map(({ attribute }) => attribute.column)
    return table.uniques.some((columns) => columns.join('\0') === names.join('\0'))
  }
  const terms = termsOf(index, dialect)
  return table.orders.some((order) => terms.every((term, place) => order[place] === term))
}
