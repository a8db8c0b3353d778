import type { Models } from '../model/model.ts'
import type { Store } from '../storage/store.ts'

/** A store over the models of the zoo with empty tables. Its log may contain earlier changes. */
export interface StorageUnderTest {
  readonly store: Store
  readonly models: Models
  /** Opens a second store on the same records, as another process would. Without it, cases that need it are skipped. */
  readonly secondProcess?: (() => Promise<Store>) | undefined
}

/** One requirement of the Store interface. `run` throws an AssertionError when it is not met. */
export interface StorageCase {
  readonly name: string
  /** The member of `StorageUnderTest` without which the case must be skipped. */
  readonly needs?: 'secondProcess'
  run(storage: StorageUnderTest): Promise<void>
}
