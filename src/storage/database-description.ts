import type { AttributeDefinition } from '../model/definition.ts'
import type { Model } from '../model/model.ts'
import { folded } from '../model/names.ts'
import type { ExistingColumn, ExistingTable } from './schema.ts'
import type { SchemaStep } from './schema-step.ts'

/** What models for the tables of an existing database are written from. */
export interface DatabaseDescription {
  readonly tables: ReadonlyMap<string, ExistingTable>
  /** Tables and views that no model is written for, with the reason. */
  readonly leftOut: ReadonlyMap<string, string>
  /** The attribute whose values a column of this type contains. Undefined: no attribute does. */
  attributeFor(column: ExistingColumn): AttributeDefinition | undefined
  /** Whether an insert without a value gets a number of a sequence or of the row. */
  isCounted(column: ExistingColumn): boolean
  /** Why the column cannot have an attribute, whatever its type. */
  unservedReason(column: ExistingColumn): string | undefined
  /** How a table without a key of one column gets one: the end of a sentence. */
  addKey(table: ExistingTable): string
  /** Because of these a start would be refused. Each begins with the name of the model, or of its attribute. */
  problemsOf(model: Model): readonly string[]
  /** What a start with `migrate: 'add'` adds to the existing tables. */
  stepsOf(models: readonly Model[]): readonly SchemaStep[]
}

/** The name of a column that the table does not have, in any letter case: it may have an `id` that is not its key. */
export function freeKeyName({ columns }: ExistingTable): string {
  const used = new Set([...columns.keys()].map(folded))
  const names = ['id', 'row_id']
  for (let number = 2; ; number++) {
    const free = names.find((name) => !used.has(name))
    if (free !== undefined) return free
    names.push(`row_id${number}`)
  }
}
