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
   * The records that match, kept as the service has them until `close` is called. All live queries of a client share one
   * connection, which is made again when it breaks, and then continues where it was.
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
  readonly rows: readonly Row[]
  /** `catching-up` until the rows are those of the service, `offline` while it cannot be reached or refuses. */
  readonly status: LiveStatus
  /** Resolves with the first rows; rejects when the service refuses the query, its address is wrong, or it is closed before. */
  readonly ready: Promise<void>
  /** Calls the listener after every change, until the returned function is called. */
  subscribe(listener: (snapshot: LiveSnapshot<Row>) => void): () => void
  /** The same object until something of it changes. */
  getSnapshot(): LiveSnapshot<Row>
  close(): void
}
