import type { AttributeDefinition, ModelDefinitions } from 'keelson'

/**
 * The same models for the PostgreSQL edition of Chinook: tables and columns are named like `invoice_line`, times are
 * timestamps, and keys are not generated, so a new record needs an id.
 */
export function forPostgres<M extends ModelDefinitions>(models: M): M {
  const renamed = Object.entries(models).map(([name, { tableName = name, attributes = {}, ...rest }]) => {
    const columns = Object.entries(attributes).map(([name, attribute]) => [name, attribute && renamedColumn(attribute)])
    return [name, { ...rest, tableName: snakeCase(tableName), attributes: Object.fromEntries(columns) }]
  })
  return Object.fromEntries(renamed) as M
}

function renamedColumn({ autoIncrement: _, ...attribute }: AttributeDefinition): AttributeDefinition {
  const { columnName, columnType, through } = attribute
  return {
    ...attribute,
    ...(columnName !== undefined && { columnName: snakeCase(columnName) }),
    ...(columnType === 'datetime' && { columnType: 'timestamp' }),
    ...(typeof through === 'object' && {
      through: { tableName: snakeCase(through.tableName), from: snakeCase(through.from), to: snakeCase(through.to) },
    }),
  }
}

const snakeCase = (name: string): string => name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase()
