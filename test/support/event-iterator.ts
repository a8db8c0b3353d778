import { setImmediate as turn } from 'node:timers/promises'
import { defineModels } from '../../src/model/define.ts'
import type { Model } from '../../src/model/model.ts'
import type { Change, Position } from '../../src/protocol/change.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { anonymous } from '../../src/protocol/requester.ts'
import { Broadcaster } from '../../src/realtime/broadcaster.ts'
import { ChangeFeed, type ChangeSource } from '../../src/realtime/change-feed.ts'
import {
  EventIterator,
  type EventIteratorOptions,
  type IteratorItem,
} from '../../src/realtime/delivery/event-iterator.ts'
import { EventIterators } from '../../src/realtime/delivery/event-iterators.ts'
import { LogReads } from '../../src/realtime/delivery/log-reads.ts'
import type { CurrentRecords } from '../../src/realtime/visibility.ts'
import { Semaphore } from '../../src/support/semaphore.ts'

const models = defineModels({
  owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: { attributes: { name: { type: 'string' }, owner: { model: 'owner' } } },
})
export const owner = models.get('owner') as Model
export const pet = models.get('pet') as Model

/** A log in memory whose positions are numbers. The test decides what happens before and after a read. */
export class TestLog implements ChangeSource {
  readonly changes: Change[] = []
  readonly listeners = new Set<() => void>()
  floor = 0
  beforeRead: (() => unknown) | undefined
  afterRead: (() => unknown) | undefined
  failing: Error | undefined

  /** Appends one operation of `count` changes. */
  write(model = 'pet', count = 1): void {
    const operation = `${this.changes.length + 1}`
    for (let index = 0; index < count; index++) {
      const id = this.changes.length + 1
      const after: JsonObject = { id, name: `${id}` }
      this.changes.push({ position: `${id}`, operation, model, verb: 'created', id, after, at: '' })
    }
    for (const listener of this.listeners) listener()
  }

  head(): Position {
    return `${this.changes.length}`
  }

  async read(after: Position, limit: number) {
    await this.beforeRead?.()
    if (this.failing) throw this.failing
    const from = Number(after)
    if (!(from >= this.floor && from <= this.changes.length)) return 'reset' as const
    let to = Math.min(from + limit, this.changes.length)
    while (to < this.changes.length && this.changes[to]?.operation === this.changes[to - 1]?.operation) to++
    const changes = this.changes.slice(from, to)
    await this.afterRead?.()
    return { changes, position: `${to}` }
  }

  reaches(position: Position, target: Position): boolean {
    return Number(position) >= Number(target)
  }

  includes(position: Position, change: Change): boolean {
    return Number(change.position) <= Number(position)
  }

  onChange(listener: () => void): Disposable {
    this.listeners.add(listener)
    return { [Symbol.dispose]: () => void this.listeners.delete(listener) }
  }
}

type OpenOptions = Partial<EventIteratorOptions> & { readonly since?: Position }

export function setUp(options: OpenOptions = {}, currentRecords: CurrentRecords = () => new Map()) {
  const log = new TestLog()
  const reported: unknown[] = []
  const onError = (error: unknown) => reported.push(error)
  const feed = new ChangeFeed(log, onError)
  const recent = { maxRecentEvents: 0, maxRecentBytes: 0, currentMembers: () => new Map() }
  const broadcaster = new Broadcaster({ feed, models, order: log, currentRecords, ...recent, onError })
  const iterators = new EventIterators()
  const open = ({ since, ...more }: OpenOptions = {}) =>
    new EventIterator({
      reads: new LogReads(log, new Semaphore(1), 1),
      broadcaster,
      iterators,
      requester: anonymous,
      target: { model: pet },
      from: { position: since ?? log.head() },
      isResumed: since !== undefined,
      queue: { capacity: 10, weigh: () => 1, overflow: 'reset' },
      ...options,
      ...more,
    })
  return { log, broadcaster, iterators, open, reported }
}

export const kinds = (items: readonly (IteratorItem | undefined)[]) => items.map((item) => item?.kind)

/** The keys in an item. */
export const idsOf = (item: IteratorItem | undefined): readonly unknown[] =>
  item?.kind === 'operation' ? item.events.map(({ id }) => id) : [item?.kind]

export async function take(live: EventIterator, count: number): Promise<(IteratorItem | undefined)[]> {
  const items: (IteratorItem | undefined)[] = []
  while (items.length < count) items.push((await live.next()).value)
  return items
}

export async function rest(live: EventIterator): Promise<IteratorItem[]> {
  const items: IteratorItem[] = []
  for await (const item of live) items.push(item)
  return items
}

export async function settle(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await turn()
}
