import type { Explanation } from '../explain.ts'
import type { Ready } from '../summary.ts'

/** What a worker tells the process that watches over it. */
export type WorkerMessage =
  /** The configuration is sound. The database is opened when the word is given: until then another may serve it. */
  | {
      readonly kind: 'loaded'
      readonly files: readonly string[]
      /** Its database, where that is kept in the memory of one process. */
      readonly ownDatabase: string | null
    }
  | { readonly kind: 'progress'; readonly done: number; readonly total: number }
  | { readonly kind: 'ready'; readonly ready: Ready }
  /** Followed by its end. */
  | { readonly kind: 'failed'; readonly explanation: Explanation; readonly files: readonly string[] }

/** The only word a worker is given. To stop it is a signal, or the end of the channel. */
export const go = 'go'
