import type { Position, RecordId } from '../protocol/change.ts'
import type { ToManyOf } from './associations-of.ts'
import type { ModelName } from './attributes-of.ts'
import type { ModelDefinitions } from './definition.ts'
import type { RecordOf } from './record-of.ts'
import type { KeyOf } from './value-of.ts'
import type { Where } from './where-of.ts'

/** Listening to the records of one model, for code in the same process. */
export interface Listening<M extends ModelDefinitions, N extends ModelName<M>> {
  /**
   * What happens to the records from now on, or from `since` on, whoever causes it: after the commit, in the order of
   * the log, with nothing left out. `for await` takes it, and leaving the loop ends it. The first item is `ready`; one
   * that is `reset` says that what lies before its position is not there to be heard any more, so that whoever keeps
   * a copy must read it anew. When the service is closed the last is `restart`: it ends, and whoever begins again `since`
   * its position goes on there. Rejects with E_NO_SUCH_RECORD when `id` names no record.
   */
  live(options?: LiveOptions<M, N>): LiveEvents<M, N>
}

export interface LiveOptions<M extends ModelDefinitions, N extends ModelName<M>> {
  /**
   * Only of records that fulfil this condition, which is about the records themselves and no others: one that comes to
   * fulfil it is heard as created, one that ceases to as destroyed, without its values.
   */
  readonly where?: Where<M, N>
  /** Only of this record; its end is the last that is heard. Not together with `where`. */
  readonly id?: KeyOf<M, N>
  /** Where to go on: the position of an event, or one from the log of changes. */
  readonly since?: Position
  /** An AbortSignal: it ends the listening, like leaving the loop. */
  readonly signal?: Signal
}

/** As much of an AbortSignal as is needed here. The type itself is known only where a program says where it will run. */
interface Signal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

export type LiveEvents<M extends ModelDefinitions, N extends ModelName<M>> = AsyncIterableIterator<
  LiveEvent<M, N>,
  undefined,
  undefined
> &
  AsyncDisposable

export type LiveEvent<M extends ModelDefinitions, N extends ModelName<M>> = LivePlace | LiveChange<M, N>

/** Where the log is read. What was missed before a `reset` will not come; what comes after a `restart` will, later. */
export interface LivePlace {
  readonly verb: 'ready' | 'reset' | 'restart'
  readonly position: Position
}

export type LiveChange<M extends ModelDefinitions, N extends ModelName<M>> = Told<M, N> &
  (
    | { readonly verb: 'created'; readonly data: RecordOf<M, N> }
    | {
        readonly verb: 'updated'
        /** What changed, with the key and the time of the update. */
        readonly data: Partial<RecordOf<M, N>>
        readonly previous: RecordOf<M, N>
      }
    | {
        readonly verb: 'destroyed'
        /** Absent for a record that is still there, and does not fulfil the condition any more. */
        readonly previous?: RecordOf<M, N>
      }
    | { readonly verb: 'addedTo'; readonly attribute: keyof ToManyOf<M, N> & string; readonly addedId: RecordId }
    | { readonly verb: 'removedFrom'; readonly attribute: keyof ToManyOf<M, N> & string; readonly removedId: RecordId }
  )

interface Told<M extends ModelDefinitions, N extends ModelName<M>> {
  readonly model: N
  readonly id: KeyOf<M, N>
  /** Where somebody who has heard this may resume; absent in the middle of what happened together. */
  readonly position?: Position
}
