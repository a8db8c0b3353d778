import { type Condition, findKey, leavesOf } from '../../criteria/criteria.ts'
import { isComparedByColumn } from '../../criteria/is-compared-by-column.ts'
import type { Position, RecordId } from '../../protocol/change.ts'
import { noSuchRecord, ServiceError } from '../../protocol/errors.ts'
import type { Requester } from '../../protocol/requester.ts'
import type { Broadcaster } from '../../realtime/broadcaster.ts'
import { readSelected } from '../../realtime/delivery/catch-up.ts'
import { type Beginning, EventIterator } from '../../realtime/delivery/event-iterator.ts'
import { EventIterators } from '../../realtime/delivery/event-iterators.ts'
import { LogReads } from '../../realtime/delivery/log-reads.ts'
import type { QueueOptions } from '../../realtime/delivery/operation-queue.ts'
import type { SubscriptionTarget } from '../../realtime/subscription-target.ts'
import type { Store } from '../../storage/store.ts'
import type { Limits } from '../../support/limits.ts'
import type { Semaphore } from '../../support/semaphore.ts'
import type { WaitingBytes, WaitingClient } from '../../support/waiting-bytes.ts'
import { yieldToEventLoop } from '../../support/yield-to-event-loop.ts'
import type { Authorization } from '../dispatch/authorize.ts'
import { sizeOf } from './event-stream-format.ts'

export interface Subscription {
  readonly target: SubscriptionTarget
  /** Resume after this position; without one the subscription begins now. */
  readonly since: Position | undefined
  readonly authorization: Pick<Authorization, 'requester' | 'store'>
  /** What becomes of a consumer that is too slow. */
  readonly overflow: 'reset' | 'replay'
  /** What waits for it is bounded in bytes, together with what waits for all clients; for code in this process in events. */
  readonly isForClient: boolean
}

interface SubscriptionParts {
  readonly store: Store
  readonly broadcaster: Broadcaster
  /** Bounds how many clients read the change log at once. */
  readonly reads: Semaphore
  readonly waiting: WaitingBytes
  readonly limits: Pick<Limits, 'maxQueuedBytes' | 'maxCatchUps'>
}

/** Events that wait for a slow loop of the application; with more of them, it reads from the log what it has not received. */
const maxWaitingEvents = 1_000

/** Opens the subscriptions of streams and of code in this process. */
export class SubscriptionFactory {
  readonly #parts: SubscriptionParts
  readonly #iterators = new EventIterators()
  readonly #reads: LogReads

  constructor(parts: SubscriptionParts) {
    this.#parts = parts
    this.#reads = new LogReads(parts.store.changes, parts.reads, parts.limits.maxCatchUps)
  }

  /**
   * The first item is `ready`, or `reset` when the position is gone. For a record that does not exist the first `next`
   * rejects with E_NO_SUCH_RECORD.
   */
  open(subscription: Subscription): EventIterator {
    const { target, since, authorization, overflow, isForClient } = subscription
    const { broadcaster } = this.#parts
    const iterator: EventIterator = new EventIterator({
      reads: this.#reads,
      broadcaster,
      iterators: this.#iterators,
      requester: authorization.requester,
      target,
      from: this.#begin(subscription),
      isResumed: since !== undefined,
      queue: {
        overflow,
        ...(isForClient ? this.#countedQueue(() => iterator.onOverflow()) : { capacity: maxWaitingEvents, weigh: one }),
      },
    })
    return iterator
  }

  /** It counts in bytes, among what waits for all clients. */
  #countedQueue(onOverflow: () => void): QueueOptions {
    const { waiting, limits } = this.#parts
    // The entry is given up together with its bytes, and the subscription may go on.
    const begin = (): WaitingClient =>
      waiting.add(() => {
        client = begin()
        onOverflow()
      })
    let client = begin()
    return { capacity: limits.maxQueuedBytes, weigh: sizeOf, onWeight: (bytes) => client.set(bytes) }
  }

  /** Every subscription ends with `shutdown`. */
  stop(): void {
    this.#iterators.stop()
  }

  async #begin({ target, since, authorization }: Subscription): Promise<Beginning> {
    const { requester, store } = authorization
    const { model, id } = target
    if (id === undefined) return { position: since ?? (await this.#parts.store.changes.head()) }
    const { value: found, position } = await store.snapshot((reads) => reads.find(model, findKey(model, id)))
    if (found.length > 0) {
      const { primaryKey } = model
      const stored = primaryKey.stored.foldsText ? (found.values(primaryKey)[0] as RecordId) : undefined
      return { position: since ?? position, id: stored }
    }
    const end = since === undefined ? 'absent' : await this.#findEnd(since, target, requester)
    if (end === 'absent') throw noSuchRecord(model.name)
    return end === 'reset' ? { position, isGone: true } : { position: since as Position }
  }

  /** Whether the log after a position contains the end of a record. A subscription without it would never end. */
  async #findEnd(
    since: Position,
    target: SubscriptionTarget,
    requester: Requester,
  ): Promise<'present' | 'absent' | 'reset'> {
    const options = { broadcaster: this.#parts.broadcaster, reads: this.#reads, target, listener: { requester } }
    for (let position = since; ; ) {
      const batch = await readSelected(position, options)
      if (batch === 'reset') return 'reset'
      if (batch.isEnd) return 'absent'
      for await (const operation of batch.operations) {
        if (operation === 'reset') return 'reset'
        if (operation.events.at(-1)?.verb === 'destroyed') return 'present'
      }
      position = batch.position
      await yieldToEventLoop()
    }
  }
}

const one = (): number => 1

/** A condition on the attributes of a record alone. Throws E_BAD_CRITERIA for one that only the database can decide. */
export function assertLocalCondition(where: Condition): Condition {
  const undecided = undecidedIn(where)
  if (undecided === undefined) return where
  throw new ServiceError(
    'E_BAD_CRITERIA',
    undecided.kind === 'related'
      ? `A subscription takes conditions on the attributes of a record, and "${undecided.association.name}" is an association`
      : `A subscription cannot compare "${undecided.attribute.name}" by "${undecided.operator.name}", as the database does by rules of its column; a live query can`,
    { attribute: undecided.kind === 'related' ? undecided.association.name : undecided.attribute.name },
  )
}

const undecidedIn = (condition: Condition) =>
  leavesOf(condition).find((leaf) => leaf.kind === 'related' || isComparedByColumn(leaf))
