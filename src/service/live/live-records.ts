import { parseWhere } from '../../criteria/parse-where.ts'
import type { Model } from '../../model/model.ts'
import { parseKey } from '../../operation/record-key.ts'
import type { Position, RecordId } from '../../protocol/change.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { SubscriptionEvent } from '../../protocol/event.ts'
import type { Json } from '../../protocol/json.ts'
import type { EventIterator, IteratorItem } from '../../realtime/delivery/event-iterator.ts'
import type { SubscriptionTarget } from '../../realtime/subscription-target.ts'
import { cancellable } from '../../support/cancellable.ts'
import type { Limits } from '../../support/limits.ts'
import type { Authorization } from '../dispatch/authorize.ts'
import { shownError } from '../dispatch/shown-error.ts'
import { assertLocalCondition, type SubscriptionFactory } from './subscription-factory.ts'

export interface LooseLiveOptions {
  readonly where?: Json
  readonly id?: Json
  readonly since?: Position
  readonly signal?: AbortSignal
}

/** What code in the same process receives. The public entry gives it types. */
export type LooseLiveEvent =
  | { readonly verb: 'ready' | 'reset' | 'restart'; readonly position: Position }
  | (SubscriptionEvent & { readonly position?: Position })

export type LooseLiveEvents = AsyncIterableIterator<LooseLiveEvent, undefined, undefined> & AsyncDisposable

export interface LiveContext {
  readonly model: Model
  readonly authorization: Authorization
  readonly subscriptions: SubscriptionFactory
  readonly limits: Limits
  /** The events are for an answer to a client. */
  readonly isForClient: boolean
}

/** Throws E_BAD_CRITERIA or E_BAD_REQUEST for options that cannot be subscribed to. */
export function liveRecords(
  { where, id, since, signal, ...others }: LooseLiveOptions,
  { model, authorization, subscriptions, limits, isForClient }: LiveContext,
): LooseLiveEvents {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new ServiceError('E_BAD_CRITERIA', `"live" has no option "${unknown}"`)
  const live = subscriptions.open({
    target: targetOf(where, id, model, limits),
    since,
    authorization,
    overflow: 'replay',
    isForClient,
  })
  const end = () => {
    signal?.removeEventListener('abort', end)
    void live.return()
  }
  signal?.addEventListener('abort', end)
  if (signal?.aborted) end()
  return cancellable(eventsIn(live, end), end)
}

function targetOf(where: Json | undefined, id: Json | undefined, model: Model, limits: Limits): SubscriptionTarget {
  if (id !== undefined && where !== undefined) {
    throw new ServiceError('E_BAD_REQUEST', 'Give "id" for one record or "where" for several, not both')
  }
  if (id !== undefined) return { model, id: parseKey(id, model) as RecordId }
  return { model, where: where === undefined ? undefined : assertLocalCondition(parseWhere(where, model, limits)) }
}

async function* eventsIn(live: EventIterator, end: () => void): AsyncGenerator<LooseLiveEvent, undefined, undefined> {
  try {
    for await (const item of live) yield* eventsOf(item)
  } catch (error) {
    throw shownError(error)
  } finally {
    end()
  }
}

function* eventsOf(item: IteratorItem): Generator<LooseLiveEvent> {
  if (item.kind === 'heartbeat') return
  if (item.kind !== 'operation') {
    yield { verb: item.kind === 'shutdown' ? 'restart' : item.kind, position: item.position }
    return
  }
  const { events, position } = item
  for (const [index, event] of events.entries()) yield index === events.length - 1 ? { ...event, position } : event
}
