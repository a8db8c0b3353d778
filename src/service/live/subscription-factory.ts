import { type Condition, findByPrimaryKey } from '../../criteria/criteria.ts'
import { isComparedByDatabase } from '../../model/compared-by-database.ts'
import type { Position } from '../../protocol/change.ts'
import { noSuchRecord, ServiceError } from '../../protocol/errors.ts'
import type { Requester } from '../../protocol/requester.ts'
import type { Broadcaster } from '../../realtime/broadcaster.ts'
import { readSelected } from '../../realtime/delivery/catch-up.ts'
import { type Beginning, EventIterator, type EventIteratorOptions } from '../../realtime/delivery/event-iterator.ts'
import { EventIterators } from '../../realtime/delivery/event-iterators.ts'
import type { SubscriptionTarget } from '../../realtime/subscription-target.ts'
import type { Store } from '../../storage/store.ts'
import { andThen } from '../../support/maybe-promise.ts'
import { yieldToEventLoop } from '../../support/yield-to-event-loop.ts'
import type { Authorization } from '../dispatch/authorize.ts'

export interface Subscription {
  readonly target: SubscriptionTarget
  /** Resume after this position; without one the subscription begins now. */
  readonly since: Position | undefined
  readonly authorization: Pick<Authorization, 'requester' | 'store'>
  readonly queue: EventIteratorOptions['queue']
}

/** Opens the subscriptions of streams and of code in this process. */
export class SubscriptionFactory {
  readonly #store: Store
  readonly #broadcaster: Broadcaster
  readonly #iterators = new EventIterators()

  constructor(store: Store, broadcaster: Broadcaster) {
    this.#store = store
    this.#broadcaster = broadcaster
  }

  /**
   * The first item is `ready`, or `reset` when the position is gone. For a record that does not exist the first `next`
   * rejects with E_NO_SUCH_RECORD.
   */
  open(subscription: Subscription): EventIterator {
    const { target, since, authorization, queue } = subscription
    return new EventIterator({
      log: this.#store.changes,
      broadcaster: this.#broadcaster,
      iterators: this.#iterators,
      requester: authorization.requester,
      target,
      from: this.#begin(subscription),
      isResumed: since !== undefined,
      queue,
    })
  }

  /** Every subscription ends with `shutdown`. */
  stop(): void {
    this.#iterators.stop()
  }

  async #begin({ target, since, authorization }: Subscription): Promise<Beginning> {
    const { requester, store } = authorization
    const { model, id } = target
    if (id === undefined) return { position: since ?? (await this.#store.changes.head()) }
    const { value: exists, position } = await store.snapshot((reads) =>
      andThen(reads.find(model, findByPrimaryKey(model, id)), ({ length }) => length > 0),
    )
    if (exists) return { position: since ?? position }
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
    const options = { log: this.#store.changes, broadcaster: this.#broadcaster, target, requester }
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

/** A condition on the attributes of a record alone. Throws E_BAD_CRITERIA for one that only the database can decide. */
export function assertLocalCondition(where: Condition): Condition {
  const undecided = undecidedIn(where)
  if (undecided === undefined) return where
  throw new ServiceError(
    'E_BAD_CRITERIA',
    undecided.kind === 'related'
      ? `A subscription takes conditions on the attributes of a record, and "${undecided.association.name}" is an association`
      : `A subscription cannot compare "${undecided.attribute.name}", of which the database ignores letter case or blanks; a live query can`,
    { attribute: undecided.kind === 'related' ? undecided.association.name : undecided.attribute.name },
  )
}

type Undecided = Extract<Condition, { readonly kind: 'related' | 'compare' }>

function undecidedIn(condition: Condition): Undecided | undefined {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.map(undecidedIn).find((found) => found !== undefined)
    case 'not':
      return undecidedIn(condition.condition)
    case 'related':
      return condition
    case 'compare':
      return isComparedByDatabase(condition.attribute) ? condition : undefined
  }
}
