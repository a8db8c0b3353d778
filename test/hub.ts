import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { defineModels } from '../src/model/define.ts'
import type { Change, RecordId } from '../src/protocol/change.ts'
import type { Message, Peer } from '../src/protocol/event.ts'
import type { JsonObject } from '../src/protocol/json.ts'
import { Feed, type Followed } from '../src/realtime/feed.ts'
import { type Follow, Hub } from '../src/realtime/hub.ts'

const models = defineModels({
  user: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: { attributes: { name: { type: 'string' }, owner: { model: 'user' } } },
})

export type Row = Pick<Change, 'model' | 'verb' | 'id' | 'before' | 'after' | 'origin'>

/** A log in memory whose places are numbers, and which is read when the test says so. */
export class TestLog implements Followed {
  readonly changes: Change[] = []
  /** The models whose changes were wanted. */
  readonly wanted: string[] = []
  reads = 0
  failing: Error | undefined
  #listeners = new Set<() => void>()

  /** One operation, not yet noticed by anybody. Answers the place behind it. */
  write(...rows: readonly Row[]): string {
    const operation = `operation ${this.changes.length}`
    for (const row of rows) {
      const position = String(this.changes.length + 1)
      this.changes.push({ position, operation, at: '2026-01-01T00:00:00.000Z', ...row })
    }
    return this.head()
  }

  /** Everybody reads on, and is done. */
  async wake(): Promise<void> {
    for (const listener of this.#listeners) listener()
    for (let turns = 0; turns < 20; turns++) await turn()
  }

  head(): string {
    if (this.failing) throw this.failing
    return String(this.changes.length)
  }

  read: Followed['read'] = (after, limit, isWanted = () => true) => {
    this.reads++
    assert.ok(after !== undefined, 'there is a place to read from')
    if (this.failing) throw this.failing
    const changes = this.changes.slice(Number(after), Number(after) + limit)
    const position = String(Number(after) + changes.length)
    const wanted = changes.filter(({ model }) => isWanted(model))
    this.wanted.push(...wanted.map(({ model }) => model))
    return { changes: wanted, position }
  }

  onWake(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }
}

export class TestPeer implements Peer {
  readonly id: string
  readonly mirror: boolean
  readonly heard: string[] = []
  resets = 0
  /** Called with each message. */
  during: ((message: Message) => void) | undefined

  constructor(id: string, mirror = false) {
    this.id = id
    this.mirror = mirror
  }

  send(message: Message): boolean {
    const { verb, model, id } = message.event
    this.heard.push(`${verb} ${model} ${id}`)
    this.during?.(message)
    return true
  }

  reset(): void {
    this.resets++
  }

  /** What was heard since the last time. */
  take(): string[] {
    return this.heard.splice(0)
  }
}

export function setUp(maxSubscriptions = 100) {
  const log = new TestLog()
  const reported: unknown[] = []
  const feed = new Feed(log, models, (error) => reported.push(error))
  const covers = (position: string, change: Change) => Number(change.position) <= Number(position)
  const hub = new Hub({ feed, covers, maxSubscriptions })
  /** A request that found something at once. */
  const ask = async (peer: Peer, follow: Partial<Follow>, position: string | undefined = log.head()) => {
    const joining = await hub.begin(peer, 'reads')
    hub.join(joining, { records: [], models: [], ...follow }, position)
  }
  const connect = (id: string, mirror = false) => {
    const peer = new TestPeer(id, mirror)
    return { peer, connection: hub.connect(peer) }
  }
  return { log, hub, ask, connect, reported }
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
