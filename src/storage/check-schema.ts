import { ConfigError } from '../model/config-error.ts'
import type { Attribute, Model } from '../model/model.ts'
import type { ExistingColumn, ExistingTable } from './schema.ts'

/** What a database knows about the types of its columns, and how the operator can change them. */
export interface ColumnCheck<Column extends ExistingColumn> {
  /**
   * Whether the column stores every value of the attribute without changing it. Text with a declared `columnType` is not
   * checked: the type is intended.
   */
  holds(attribute: Attribute, column: Column): boolean
  /** How to get a column that holds the attribute: the end of a sentence. */
  changeType(model: Model, attribute: Attribute): string
  /** The statement after which the column accepts null. */
  allowNull(table: string, column: string): string
}

interface TableOf<Column extends ExistingColumn> extends ExistingTable {
  readonly columns: ReadonlyMap<string, Column>
}

/**
 * Throws a ConfigError with every difference between models and tables by which requests would fail or answer other values
 * than were stored: missing tables and columns, types that cannot hold an attribute, and columns that must have a value but
 * belong to no attribute.
 */
export function checkSchema<Column extends ExistingColumn>(
  models: readonly Model[],
  tables: ReadonlyMap<string, TableOf<Column>>,
  columns: ColumnCheck<Column>,
): void {
  const problems = models.flatMap((model) => {
    const table = tables.get(model.table)
    if (!table) return `${model.name}: the database has no table "${model.table}"; migrate: 'add' creates it`
    return [...attributeProblems(model, table, columns), ...columnProblems(model, table, columns)]
  })
  if (problems.length > 0) throw new ConfigError(problems)
}

function attributeProblems<Column extends ExistingColumn>(
  model: Model,
  table: TableOf<Column>,
  columns: ColumnCheck<Column>,
): readonly string[] {
  return [...model.attributes.values()].flatMap((attribute) => {
    const place = `${model.name}.${attribute.name}`
    const column = table.columns.get(attribute.column)
    if (!column)
      return `${place}: the table "${table.name}" has no column "${attribute.column}"; migrate: 'add' creates it`
    if (columns.holds(attribute, column)) return []
    const problem = `the column "${column.name}" of the table "${table.name}" has the type ${column.type}, which cannot hold ${attribute.type.noun}`
    return `${place}: ${problem}. Change the type of the attribute, or ${columns.changeType(model, attribute)}`
  })
}

function columnProblems<Column extends ExistingColumn>(
  model: Model,
  table: TableOf<Column>,
  columns: ColumnCheck<Column>,
): readonly string[] {
  const used = new Set([...model.attributes.values()].map(({ column }) => column))
  return [...table.columns.values()]
    .filter(({ name, mustBeGiven }) => mustBeGiven && !used.has(name))
    .map(({ name }) => {
      const problem = `the column "${name}" of the table "${table.name}" must have a value and belongs to no attribute, so that no record could be created`
      return `${model.name}: ${problem}. Declare an attribute with this column, or allow null: ${columns.allowNull(table.name, name)}`
    })
}
