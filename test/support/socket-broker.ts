import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { defineModels } from '../../src/model/define.ts'
import type { Change, RecordId } from '../../src/protocol/change.ts'
import type { Peer, SubscriptionEvent } from '../../src/protocol/event.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { anonymous } from '../../src/protocol/requester.ts'
import { Broadcaster } from '../../src/realtime/broadcaster.ts'
import { ChangeFeed, type ChangeSource } from '../../src/realtime/change-feed.ts'
import { SocketBroker } from '../../src/realtime/socket/socket-broker.ts'
import type { SubscriptionRequest } from '../../src/realtime/socket/subscription-request.ts'
import type { CurrentRecords, Visibility } from '../../src/realtime/visibility.ts'

const models = defineModels({
  user: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: { attributes: { name: { type: 'string' }, owner: { model: 'user' } } },
})

export type Row = Pick<Change, 'model' | 'verb' | 'id' | 'before' | 'after' | 'origin'>

/** A log in memory whose positions are numbers, and which is read when the test says so. */
export class TestLog implements ChangeSource {
  readonly changes: Change[] = []
  /** The model of each change that passed the filter. */
  readonly wanted: string[] = []
  reads = 0
  failing: Error | undefined
  #listeners = new Set<() => void>()

  /** Appends one operation without a notification. Returns the position after it. */
  write(...rows: readonly Row[]): string {
    const operation = `operation ${this.changes.length}`
    for (const row of rows) {
      const position = String(this.changes.length + 1)
      this.changes.push({ position, operation, at: '2026-01-01T00:00:00.000Z', ...row })
    }
    return this.head()
  }

  /** Notifies all listeners and waits until they have read. */
  async wake(): Promise<void> {
    for (const listener of this.#listeners) listener()
    // A turn with work takes longer: the slower the machine is, the more turns a delivery has.
    for (let idle = 0, turns = 0; idle < 20 && turns < 1_000; turns++) {
      const begunAt = performance.now()
      await turn()
      if (performance.now() - begunAt < 1) idle++
    }
  }

  head(): string {
    if (this.failing) throw this.failing
    return String(this.changes.length)
  }

  read: ChangeSource['read'] = (after, limit, isWanted = () => true) => {
    this.reads++
    assert.ok(after !== undefined, 'a position is given')
    if (this.failing) throw this.failing
    const changes = this.changes.slice(Number(after), Number(after) + limit)
    const position = String(Number(after) + changes.length)
    const wanted = changes.filter(({ model }) => isWanted(model))
    this.wanted.push(...wanted.map(({ model }) => model))
    return { changes: wanted, position }
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }
}

export class TestPeer implements Peer {
  readonly id: string
  readonly mirror: boolean
  readonly received: string[] = []
  resets = 0
  /** Called with each event. */
  during: ((event: SubscriptionEvent) => void) | undefined

  constructor(id: string, mirror = false) {
    this.id = id
    this.mirror = mirror
  }

  send(event: SubscriptionEvent): boolean {
    const { verb, model, id } = event
    this.received.push(`${verb} ${model} ${id}`)
    this.during?.(event)
    return true
  }

  reset(): void {
    this.resets++
  }

  /** The events since the last call. */
  take(): string[] {
    return this.received.splice(0)
  }
}

export interface SetUpOptions {
  readonly maxSubscriptions?: number
  readonly maxSubscribedRecords?: number
  readonly maxRecentEvents?: number
  readonly maxRecentBytes?: number
  readonly visibility?: Visibility
  readonly currentRecords?: CurrentRecords
}

export function setUp(options: SetUpOptions = {}) {
  const { maxSubscriptions = 100, maxSubscribedRecords = 100_000, ...more } = options
  const { maxRecentEvents = 1_000, maxRecentBytes = 1_000_000, currentRecords = () => new Map(), ...others } = more
  const log = new TestLog()
  const reported: unknown[] = []
  const onError = (error: unknown) => reported.push(error)
  const order = { includes: (position: string, change: Change) => Number(change.position) <= Number(position) }
  const feed = new ChangeFeed(log, onError)
  const recent = { maxRecentEvents, maxRecentBytes, currentMembers: () => new Map() }
  const broadcaster = new Broadcaster({ feed, models, order, currentRecords, ...recent, onError, ...others })
  const broker = new SocketBroker(broadcaster, { maxSubscriptions, maxSubscribedRecords })
  /** A request that reads at a position and ends at once. */
  const ask = async (
    peer: Peer,
    subscriptions: Partial<SubscriptionRequest>,
    position: string | undefined = log.head(),
  ) => {
    const request = await broker.beginRequest(peer, 'reads')
    broker.commitSubscriptions(request, { records: [], models: [], ...subscriptions }, position)
  }
  const connect = (id: string, { mirror = false, requester = anonymous } = {}) => {
    const peer = new TestPeer(id, mirror)
    return { peer, connection: broker.connect(peer, requester) }
  }
  return { log, broadcaster, broker, ask, connect, reported }
}

export const pet = (id: RecordId, more: JsonObject = {}): JsonObject => ({ id, name: 'Rex', owner: null, ...more })
export const created = (id: RecordId, origin?: string): Row => ({
  model: 'pet',
  verb: 'created',
  id,
  after: pet(id),
  ...(origin !== undefined && { origin }),
})
export const updated = (id: RecordId, origin?: string): Row => ({
  model: 'pet',
  verb: 'updated',
  id,
  before: pet(id),
  after: pet(id, { name: 'Tom' }),
  ...(origin !== undefined && { origin }),
})
export const moved = (id: RecordId, from: RecordId | null, to: RecordId | null, origin?: string): Row => ({
  model: 'pet',
  verb: 'updated',
  id,
  before: pet(id, { owner: from }),
  after: pet(id, { owner: to }),
  ...(origin !== undefined && { origin }),
})
export const destroyed = (id: RecordId): Row => ({ model: 'pet', verb: 'destroyed', id, before: pet(id) })
export const pets = (...ids: readonly RecordId[]) => [{ model: 'pet', ids }]
