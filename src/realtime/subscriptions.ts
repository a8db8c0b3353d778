import type { Position, RecordId } from '../protocol/change.ts'
import type { Peer } from '../protocol/event.ts'
import { entry } from '../support/entry.ts'

/** What one peer hears of. Some of it only from a place in the log on: what was read there already holds the rest. */
type Listeners = Map<Peer, Joined | undefined>

/** A reading that subscriptions began with, the same for all the records it found. */
export interface Joined {
  readonly position: Position
  /** Everything up to the reading has been told: from now on all of it is news. */
  settled: boolean
}

/** Who listens to which record, and who watches which model for new ones. Seen from both ends, so that either can go. */
export class Subscriptions {
  readonly #byRecord = new Map<string, Map<RecordId, Listeners>>()
  readonly #watchers = new Map<string, Listeners>()
  readonly #ofPeer = new Map<Peer, Map<string, Set<RecordId>>>()
  readonly #watchedBy = new Map<Peer, Set<string>>()
  #size = 0

  /** How many records are listened to, counted for each peer. */
  get size(): number {
    return this.#size
  }

  countOf(peer: Peer): number {
    let count = 0
    for (const ids of this.#ofPeer.get(peer)?.values() ?? []) count += ids.size
    return count
  }

  /** One who listens already goes on as before. */
  follow(peer: Peer, model: string, ids: Iterable<RecordId>, joined: Joined | undefined): void {
    const records = entry(this.#byRecord, model, () => new Map<RecordId, Listeners>())
    const own = entry(
      entry(this.#ofPeer, peer, () => new Map<string, Set<RecordId>>()),
      model,
      () => new Set<RecordId>(),
    )
    for (const id of ids) {
      const listeners = entry(records, id, () => new Map() as Listeners)
      if (listeners.has(peer)) continue
      listeners.set(peer, joined)
      own.add(id)
      this.#size++
    }
  }

  watch(peer: Peer, model: string, joined: Joined | undefined): void {
    const watchers = entry(this.#watchers, model, () => new Map() as Listeners)
    if (!watchers.has(peer)) watchers.set(peer, joined)
    entry(this.#watchedBy, peer, () => new Set<string>()).add(model)
  }

  followersOf(model: string, id: RecordId): ReadonlyMap<Peer, Joined | undefined> | undefined {
    return this.#byRecord.get(model)?.get(id)
  }

  watchersOf(model: string): ReadonlyMap<Peer, Joined | undefined> | undefined {
    return this.#watchers.get(model)
  }

  unfollow(peer: Peer, model: string, id: RecordId): void {
    const records = this.#byRecord.get(model)
    const listeners = records?.get(id)
    if (!listeners?.delete(peer)) return
    this.#size--
    if (listeners.size === 0) records?.delete(id)
    this.#ofPeer.get(peer)?.get(model)?.delete(id)
  }

  /** A record that is gone has nobody who listens: one that gets its key later is a stranger. */
  dissolve(model: string, id: RecordId): void {
    for (const peer of [...(this.followersOf(model, id)?.keys() ?? [])]) this.unfollow(peer, model, id)
  }

  leave(peer: Peer): void {
    for (const [model, ids] of this.#ofPeer.get(peer) ?? []) for (const id of [...ids]) this.unfollow(peer, model, id)
    for (const model of this.#watchedBy.get(peer) ?? []) this.#watchers.get(model)?.delete(peer)
    this.#ofPeer.delete(peer)
    this.#watchedBy.delete(peer)
  }
}
