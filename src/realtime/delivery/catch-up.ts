import type { Position } from '../../protocol/change.ts'
import type { Event, SubscriptionEvent } from '../../protocol/event.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { Broadcaster } from '../broadcaster.ts'
import { type ChangeOperation, operationsOf } from '../change-feed.ts'
import { slicesOf } from '../event-slice.ts'
import { eventsOf } from '../events.ts'
import type { SubscriptionTarget } from '../subscription-target.ts'
import type { Listener } from '../visibility.ts'
import type { LogReads } from './log-reads.ts'

export interface CatchUpOptions {
  readonly reads: LogReads
  readonly broadcaster: Broadcaster
  readonly target: SubscriptionTarget
  readonly listener: Listener
}

/** The events of one operation that a subscription selects; there may be none. */
export interface SelectedOperation {
  readonly events: readonly SubscriptionEvent[]
  readonly position: Position
}

/** What a subscription selects of the log after a position: one read of it. */
export interface SelectedBatch {
  /** `reset`: what the requester may see of the next one is no longer known. */
  readonly operations: AsyncIterable<SelectedOperation | 'reset'>
  readonly position: Position
  readonly isEnd: boolean
  /** Approximate size of the batch in memory, until `drop` is called. */
  readonly bytes: number
  /** Releases the operations that were not iterated yet. The current one may still be in use by the consumer. */
  drop(): void
}

/** `isNearEnd`: few changes follow. */
export async function readSelected(
  after: Position,
  options: CatchUpOptions,
  isNearEnd = false,
): Promise<SelectedBatch | 'reset'> {
  const { reads, broadcaster, target, listener } = options
  const { affectedModels } = broadcaster.associations
  // Made before the read: it decides which models are read.
  const view = broadcaster.viewOf(listener, target.model.name)
  const isWanted = (model: string): boolean =>
    affectedModels.get(model)?.includes(target.model.name) === true || broadcaster.decidesRights(model)
  const batch = await reads.read(after, isWanted, isNearEnd)
  if (batch === 'reset') return batch
  // If the rules pass through a changed record, what the requester may see may have changed, and no event describes that.
  if (broadcaster.changesRights(view, batch.changes)) return 'reset'
  const { position, bytes = 0 } = batch
  const changes = [...batch.changes]
  return {
    operations: selectIn(operationsOf(changes), options),
    position,
    isEnd: changes.length === 0,
    bytes,
    drop: () => void changes.splice(0),
  }
}

async function* selectIn(
  operations: Iterable<ChangeOperation>,
  options: CatchUpOptions,
): AsyncGenerator<SelectedOperation | 'reset', undefined, undefined> {
  for (const operation of operations) {
    const events = await select(operation, options)
    if (events === 'reset') {
      yield events
      return
    }
    yield { events, position: operation.position }
  }
}

/** The events of one operation for the target. For a single record, `destroyed` is the last one. */
async function select(
  { changes }: ChangeOperation,
  options: CatchUpOptions,
): Promise<readonly SubscriptionEvent[] | 'reset'> {
  const { broadcaster, target, listener } = options
  const { model, id, where } = target
  const view = broadcaster.viewOf(listener, model.name)
  const selected: SubscriptionEvent[] = []
  for (const all of slicesOf(eventsOf(changes, broadcaster.associations))) {
    const events = await broadcaster.withoutRemaining(all)
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    const isOwn = (event: Event) => event.model === model.name && (id === undefined || event.id === id)
    if (!events.some(isOwn)) continue
    const slice = broadcaster.slice(events)
    const judging = slice.judge(
      (name) => new Set(name === model.name ? [view] : []),
      (name) => name === model.name && where !== undefined,
    )
    if (judging instanceof Promise) await judging
    for (const [index, event] of events.entries()) {
      if (!isOwn(event)) continue
      if (!slice.isJudged(index, view, where)) return 'reset'
      await slice.matchInTurns(index, view, where)
      const seen = slice.seenBy(index, view, where)
      if (seen) selected.push(seen)
      if (id !== undefined && seen?.verb === 'destroyed') return selected
    }
  }
  return selected
}
