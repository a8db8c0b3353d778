import type { Attribute } from '../model/model.ts'
import type { JobStore } from './job-store.ts'
import type { MetadataTable } from './metadata-table.ts'
import type { SchemaStep } from './schema-step.ts'
import type { Store } from './store.ts'

export interface OpenedStore {
  readonly store: Store
  /** The changes made to the schema. */
  readonly steps: readonly SchemaStep[]
  /** To-one attributes without a foreign key in the database. */
  readonly unenforced: readonly Attribute[]
  /** What the way to the database costs, and what the service does not use of its tables, as sentences for the log. */
  readonly warnings?: readonly string[]
  readonly notes: MetadataTable
  readonly jobs: JobStore
}
