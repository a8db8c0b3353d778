import type { Position, RecordId } from '../protocol/change.ts'
import type { Peer } from '../protocol/event.ts'
import { entry } from '../support/entry.ts'

/** Those who hear of one thing. Some of them only from a place in the log on: what was read there already holds the rest. */
export interface Listeners extends Iterable<readonly [Peer, Joined | undefined]> {
  has(peer: Peer): boolean
}

/** Most records have a single listener, and a map of one takes five times the memory. */
class Lone implements Listeners {
  readonly #peer: Peer
  readonly #joined: Joined | undefined

  constructor(peer: Peer, joined: Joined | undefined) {
    this.#peer = peer
    this.#joined = joined
  }

  has(peer: Peer): boolean {
    return peer === this.#peer
  }

  *[Symbol.iterator](): Generator<readonly [Peer, Joined | undefined]> {
    yield [this.#peer, this.#joined]
  }
}

type Many = Map<Peer, Joined | undefined>

/** A reading that subscriptions began with, the same for all the records it found. */
export interface Joined {
  readonly position: Position
  /** Everything up to the reading has been told: from now on all of it is news. */
  settled: boolean
}

/** The same, seen from a peer, so that it can go. */
interface Own {
  count: number
  readonly records: Map<string, Set<RecordId>>
  readonly models: Set<string>
}

/** Who listens to which record, and who watches which model for new ones. */
export class Subscriptions {
  readonly #byRecord = new Map<string, Map<RecordId, Lone | Many>>()
  readonly #watchers = new Map<string, Many>()
  readonly #ofPeer = new Map<Peer, Own>()

  /** Whether anybody listens to a record of the model, or watches it. */
  has(model: string): boolean {
    return (this.#byRecord.get(model)?.size ?? 0) > 0 || (this.#watchers.get(model)?.size ?? 0) > 0
  }

  /** How many records a peer listens to. */
  countOf(peer: Peer): number {
    return this.#ofPeer.get(peer)?.count ?? 0
  }

  /** False: it listens already, and goes on as before. */
  follow(peer: Peer, model: string, id: RecordId, joined: Joined | undefined): boolean {
    const records = entry(this.#byRecord, model, () => new Map<RecordId, Lone | Many>())
    const listeners = records.get(id)
    if (listeners?.has(peer)) return false
    if (!listeners) records.set(id, new Lone(peer, joined))
    else if (listeners instanceof Lone) records.set(id, new Map([...listeners, [peer, joined]]))
    else listeners.set(peer, joined)
    const own = this.#own(peer)
    entry(own.records, model, () => new Set<RecordId>()).add(id)
    own.count++
    return true
  }

  /** False: it watches already, and goes on as before. */
  watch(peer: Peer, model: string, joined: Joined | undefined): boolean {
    const watchers = entry(this.#watchers, model, () => new Map() as Many)
    if (watchers.has(peer)) return false
    watchers.set(peer, joined)
    this.#own(peer).models.add(model)
    return true
  }

  followersOf(model: string, id: RecordId): Listeners | undefined {
    return this.#byRecord.get(model)?.get(id)
  }

  watchersOf(model: string): Listeners | undefined {
    return this.#watchers.get(model)
  }

  unfollow(peer: Peer, model: string, id: RecordId): void {
    const records = this.#byRecord.get(model)
    const listeners = records?.get(id)
    if (!listeners?.has(peer)) return
    if (listeners instanceof Lone || listeners.size === 1) records?.delete(id)
    else listeners.delete(peer)
    const own = this.#own(peer)
    own.records.get(model)?.delete(id)
    own.count--
  }

  leave(peer: Peer): void {
    const own = this.#ofPeer.get(peer)
    if (!own) return
    for (const [model, ids] of own.records) for (const id of [...ids]) this.unfollow(peer, model, id)
    for (const model of own.models) this.#watchers.get(model)?.delete(peer)
    this.#ofPeer.delete(peer)
  }

  #own(peer: Peer): Own {
    return entry(this.#ofPeer, peer, () => ({ count: 0, records: new Map(), models: new Set() }))
  }
}
