import type { Models } from '../model/model.ts'
import type { Store } from '../storage/store.ts'

/** A store over the models of the zoo, whose tables hold no records. Its log may hold what happened before. */
export interface StorageUnderTest {
  readonly store: Store
  readonly models: Models
  /** A second store on the same records, as another process would have it. Without one, what needs it is skipped. */
  readonly neighbour?: (() => Promise<Store>) | undefined
}

/** One promise of the seam, as a small programme. It throws an AssertionError when the promise is not kept. */
export interface StorageCase {
  readonly name: string
  readonly needs?: 'neighbour'
  run(storage: StorageUnderTest): Promise<void>
}
