import { ConfigError } from '../model/config-error.ts'
import { DatabaseError } from './driver.ts'
import type { SchemaStep } from './schema-step.ts'

/** The error of a failed step: a ConfigError when existing rows are the cause, or a `columnType` that the database does not have. */
export function refusedStep(step: SchemaStep, error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error
  if (error.reason.kind === 'unknown' && (step.kind === 'createTable' || step.kind === 'addColumn')) {
    const column = step.kind === 'addColumn' ? `column "${step.column}" of the ` : ''
    return new ConfigError([`${step.table}: the ${column}table "${step.table}" cannot be created: ${error.message}`])
  }
  if (error.reason.kind !== 'unique' || step.kind !== 'createIndex') return error
  const columns = step.columns.join(', ')
  const names = step.columns.map((column) => `"${column.replace(/ desc$/, '')}"`).join(', ')
  const where = step.where === undefined ? '' : ` where ${step.where}`
  return new ConfigError([
    `${step.table}: the unique index on (${columns})${where} cannot be created, because several rows have the same values. Change or delete these rows; an index that the model declares may be removed from it instead. To list the values: select ${names}, count(*) from "${step.table}"${where} group by ${names} having count(*) > 1`,
  ])
}
