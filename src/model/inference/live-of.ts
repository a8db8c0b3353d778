import type { Position, RecordId } from '../../protocol/change.ts'
import type { ModelDefinitions } from '../definition.ts'
import type { ToManyOf } from './associations-of.ts'
import type { ModelName } from './attributes-of.ts'
import type { Exactly } from './compile-errors.ts'
import type { FindOptions, Omission, Population, Selection } from './find-options.ts'
import type { Found } from './found.ts'
import type { RecordOf } from './record-of.ts'
import type { KeyOf } from './value-of.ts'
import type { Where } from './where-of.ts'

/** Subscriptions to the records of one model, for code in the same process. */
export interface LiveRecords<M extends ModelDefinitions, N extends ModelName<M>> {
  /**
   * The changes of the records from now on, or from `since` on, of all clients and programs: after the commit, in the
   * order of the log, without gaps. Iterated with `for await`; leaving the loop ends the subscription. The first item is
   * `ready`. `reset` says that changes before its position are no longer in the log, so that copies must be read again.
   * When the service closes, the last item is `restart`: a new subscription `since` its position continues there.
   * Rejects with E_NO_SUCH_RECORD if there is no record with `id`.
   */
  live(options?: LiveOptions<M, N>): LiveEvents<M, N>
  /**
   * The result of a find, now and whenever it has changed, with its position. Iterated with `for await`; leaving the loop
   * ends it. A slow loop receives the last result only. Ends when the service closes.
   */
  liveQuery<
    const Select extends Selection<M, N> = undefined,
    const Omitted extends Omission<M, N> = undefined,
    const Populated extends Population<M, N> = undefined,
  >(
    options?: LiveQueryOptions<M, N, Select, Omitted, Populated & Exactly<Population<M, N>, Populated>>,
  ): LiveResults<Found<M, N, { select: Select; omit: Omitted; populate: Populated }>>
}

/** The options of a live query: those of a find without a cursor. */
export type LiveQueryOptions<M extends ModelDefinitions, N extends ModelName<M>, Select, Omitted, Populated> = Omit<
  FindOptions<M, N, Select, Omitted, Populated>,
  'cursor'
> & { readonly signal?: Signal }

/** The rows of a live query, and the position at which they were read. */
export interface LiveResult<Row> {
  readonly rows: readonly Row[]
  /** The position in the change log that the rows include. */
  readonly position: Position
  /** The number of records on all pages, with `count: true`. */
  readonly total?: number
}

/** The results of a live query, for `for await`. */
export type LiveResults<Row> = AsyncIterableIterator<LiveResult<Row>, undefined, undefined> & AsyncDisposable

/** The options of a subscription. */
export interface LiveOptions<M extends ModelDefinitions, N extends ModelName<M>> {
  /**
   * Only records that match this condition on their own attributes. A record that starts to match is `created`; one that
   * ceases to match is `destroyed`, without its values.
   */
  readonly where?: Where<M, N>
  /**
   * Only changes of this record. When it is destroyed, the subscription ends after `destroyed`. Cannot be combined with `where`.
   */
  readonly id?: KeyOf<M, N>
  /** The position to resume after: that of an event, of a live result or of the change log. */
  readonly since?: Position
  /** An AbortSignal that ends the subscription, like leaving the loop. */
  readonly signal?: Signal
}

/** The used part of an AbortSignal, whose type depends on the libraries that a program compiles with. */
interface Signal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** The items of a subscription, for `for await`. */
export type LiveEvents<M extends ModelDefinitions, N extends ModelName<M>> = AsyncIterableIterator<
  LiveEvent<M, N>,
  undefined,
  undefined
> &
  AsyncDisposable

/** An item of a subscription. */
export type LiveEvent<M extends ModelDefinitions, N extends ModelName<M>> = LivePlace | LiveChange<M, N>

/**
 * An item without a change. `ready`: later changes follow. `reset`: changes before its position may be missing. `restart`: the
 * service closes; a new subscription `since` its position receives the later changes.
 */
export interface LivePlace {
  readonly verb: 'ready' | 'reset' | 'restart'
  readonly position: Position
}

/** A change of a record or of its to-many associations. */
export type LiveChange<M extends ModelDefinitions, N extends ModelName<M>> = ChangedRecord<M, N> &
  (
    | { readonly verb: 'created'; readonly data: RecordOf<M, N> }
    | {
        readonly verb: 'updated'
        /** The changed attributes, the key and the time of the update. */
        readonly data: Partial<RecordOf<M, N>>
        readonly previous: RecordOf<M, N>
      }
    | {
        readonly verb: 'destroyed'
        /** Absent for an existing record that no longer matches the condition. */
        readonly previous?: RecordOf<M, N>
      }
    | { readonly verb: 'addedTo'; readonly attribute: keyof ToManyOf<M, N> & string; readonly addedId: RecordId }
    | { readonly verb: 'removedFrom'; readonly attribute: keyof ToManyOf<M, N> & string; readonly removedId: RecordId }
  )

interface ChangedRecord<M extends ModelDefinitions, N extends ModelName<M>> {
  readonly model: N
  readonly id: KeyOf<M, N>
  /** The position to resume at; absent on all but the last change of an operation. */
  readonly position?: Position
}
