import type { ModelDefinitions } from '../../model/definition.ts'
import type { ModelName } from '../../model/inference/attributes-of.ts'
import type { Exactly } from '../../model/inference/compile-errors.ts'
import type { Criteria, Omission, Population, Projection, Selection } from '../../model/inference/find-options.ts'
import type { Found } from '../../model/inference/found.ts'
import type { Simplify } from '../../model/inference/record-of.ts'
import type { LiveSnapshot, LiveStatus } from './live-query.ts'

/** Live queries of one model. */
export interface LiveQueries<M extends ModelDefinitions, N extends ModelName<M>> {
  /**
   * A live query: the records that match, kept current until `close` is called. All live queries of a client share one
   * connection. When it breaks, it is reopened and continues from its last position.
   */
  live<
    const S extends Selection<M, N> = undefined,
    const O extends Omission<M, N> = undefined,
    const P extends Population<M, N> = undefined,
  >(
    options?: LiveOptions<M, N, S, O, P & Exactly<Population<M, N>, P>>,
  ): Live<Found<M, N, { select: S; omit: O; populate: P }>>
}

/** The options of a live query: those of `find` without a cursor. */
export type LiveOptions<
  M extends ModelDefinitions,
  N extends ModelName<M>,
  S = Selection<M, N>,
  O = Omission<M, N>,
  P = Population<M, N>,
> = Simplify<Projection<S, O, P> & Criteria<M, N> & { readonly count?: boolean }>

/** A live query. */
export interface Live<Row> {
  /** The current records, in the order of `sort`. */
  readonly rows: readonly Row[]
  /** `catching-up` until the rows are current, `offline` while the service cannot be reached or refuses the connection. */
  readonly status: LiveStatus
  /**
   * Resolves when the first rows have arrived. Rejects when the service refuses the query, when the address is wrong, and when
   * the query is closed before.
   */
  readonly ready: Promise<void>
  /** Calls the listener after each change. The returned function ends this. */
  subscribe(listener: (snapshot: LiveSnapshot<Row>) => void): () => void
  /** The current state. The same object as before if nothing has changed. */
  getSnapshot(): LiveSnapshot<Row>
  /** Ends the query. Its listeners are not called again. */
  close(): void
}
