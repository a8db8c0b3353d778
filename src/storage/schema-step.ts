import type { EarlierTable } from './earlier-tables.ts'

/** One change of the schema at start. */
export type SchemaStep =
  | { readonly kind: 'dropTable' | 'rebuildTable' | 'captureChanges'; readonly table: string }
  | {
      readonly kind: 'createTable'
      readonly table: string
      /** A table that the model may have had under another name. */
      readonly earlier?: EarlierTable
    }
  | {
      readonly kind: 'addColumn'
      readonly table: string
      readonly column: string
      /** It is null in the records that exist, although new ones must have a value. */
      readonly isNull?: boolean
      /** Columns of the table without an attribute: one of them may have been its name. */
      readonly unused?: readonly string[]
    }
  | { readonly kind: 'addForeignKey'; readonly table: string; readonly column: string; readonly target: string }
  | {
      readonly kind: 'createIndex'
      readonly table: string
      readonly columns: readonly string[]
      readonly unique: boolean
      /** The condition of a partial index, as SQL. */
      readonly where?: string
    }
  /** `schema`: where the database has several. */
  | { readonly kind: 'createLog'; readonly schema?: string }
  /** The database is a copy of another, whose log does not apply. */
  | { readonly kind: 'restartLog' }

/** The step as a text for the operator: `created table pet`. */
export function describeStep(step: SchemaStep): string {
  switch (step.kind) {
    case 'dropTable':
      return `dropped table ${step.table}`
    case 'createTable':
      return `created table ${step.table}${step.earlier === undefined ? '' : ` (${renamedTable(step.earlier)})`}`
    case 'rebuildTable':
      return `rebuilt table ${step.table}, so that its JSON columns accept null from every version of SQLite`
    case 'addColumn':
      return `added column ${step.table}.${step.column}${addedTo(step)}`
    case 'addForeignKey':
      return `linked ${step.table}.${step.column} to ${step.target}`
    case 'createIndex':
      return `created ${step.unique ? 'unique index' : 'index'} on ${step.table} (${step.columns.join(', ')})`
    case 'captureChanges':
      return `captured changes of ${step.table}`
    case 'createLog':
      return `created the change log${step.schema === undefined ? '' : ` (${step.schema})`}`
    case 'restartLog':
      return 'began a new change log: the database is a copy of another'
  }
}

/** What an operator should know of a new column: what it lacks, and that it may be an old one with a new name. */
function addedTo({ isNull, unused = [] }: Extract<SchemaStep, { kind: 'addColumn' }>): string {
  return [isNull ? ', which is null in existing records' : '', unused.length === 0 ? '' : ` (${renamed(unused)})`].join(
    '',
  )
}

/** An operator should know that the records or pairs of a renamed model or association are in another table. */
export function renamedTable({ table, pairs, reference }: EarlierTable): string {
  if (reference !== undefined)
    return `column ${reference.column} of the table ${table} has no attribute now; if the association was to-one, copy its pairs: ${reference.copy}`
  if (pairs === undefined)
    return `table ${table} has the same columns and no model now; if you renamed the model, write tableName: '${table}'`
  const { association, from, to } = pairs
  return `table ${table} has pairs of the same tables and no association now; if you renamed one, write through: { tableName: '${table}', from: '${from}', to: '${to}' } in ${association}`
}

function renamed(unused: readonly string[]): string {
  const [first, ...others] = unused
  if (others.length === 0)
    return `column ${first} has no attribute now; if you renamed it, write columnName: '${first}'`
  const names = others.length < 3 ? unused.join(', ') : `${first} and ${others.length} more`
  return `columns ${names} have no attribute now; if you renamed one, write its columnName, as columnName: '${first}'`
}
