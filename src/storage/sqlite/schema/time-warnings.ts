import type { Model } from '../../../model/model.ts'
import type { SqliteTable } from './inspect.ts'

/** SQLite has no type for times: a column that another program declares as one may contain any format. */
export const timeWarnings = (models: readonly Model[], tables: ReadonlyMap<string, SqliteTable>): readonly string[] =>
  models.flatMap(({ name: model, table, attributes }) =>
    [...attributes.values()].flatMap(({ name, column: columnName, columnType, type }) => {
      const column = tables.get(table)?.columns.get(columnName)
      if (!column || type.storedAs !== 'timestamp' || columnType !== undefined) return []
      if (!/date|time/i.test(column.type)) return []
      return `${model}.${name}: the column "${column.name}" has the type ${column.type}, and times of other programs in it are compared as texts. columnType: '${column.type}' compares them as times`
    }),
  )
