/** One change of the schema at start. */
export type SchemaStep =
  | { readonly kind: 'dropTable' | 'createTable' | 'rebuildTable' | 'captureChanges'; readonly table: string }
  | { readonly kind: 'addColumn'; readonly table: string; readonly column: string }
  | { readonly kind: 'addForeignKey'; readonly table: string; readonly column: string; readonly target: string }
  | {
      readonly kind: 'createIndex'
      readonly table: string
      readonly columns: readonly string[]
      readonly unique: boolean
    }
  | { readonly kind: 'createLog'; readonly schema: string }
  /** The database is a copy of another, whose log does not apply. */
  | { readonly kind: 'restartLog' }

/** The step as a text for the operator: `created table pet`. */
export function describeStep(step: SchemaStep): string {
  switch (step.kind) {
    case 'dropTable':
      return `dropped table ${step.table}`
    case 'createTable':
      return `created table ${step.table}`
    case 'rebuildTable':
      return `rebuilt table ${step.table}, so that its JSON columns accept null from every version of SQLite`
    case 'addColumn':
      return `added column ${step.table}.${step.column}`
    case 'addForeignKey':
      return `linked ${step.table}.${step.column} to ${step.target}`
    case 'createIndex':
      return `created ${step.unique ? 'unique index' : 'index'} on ${step.table} (${step.columns.join(', ')})`
    case 'captureChanges':
      return `captured changes of ${step.table}`
    case 'createLog':
      return `created the change log (${step.schema})`
    case 'restartLog':
      return 'began a new change log: the database is a copy of another'
  }
}
