import type { Attribute } from '../model/model.ts'
import type { Notes } from './notes.ts'
import type { Store } from './store.ts'

export interface OpenedStore {
  readonly store: Store
  /** What was done to the database, for people. */
  readonly steps: readonly string[]
  /** To-one attributes that the database does not check itself. */
  readonly unenforced: readonly Attribute[]
  readonly notes: Notes
}
