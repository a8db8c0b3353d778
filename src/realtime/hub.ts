import type { Change, Position, RecordId } from '../protocol/change.ts'
import type { Event, Message, Peer } from '../protocol/event.ts'
import { nextTurn } from '../support/next-turn.ts'
import type { Feed, FeedListener, Heard } from './feed.ts'
import { type OwnWrite, OwnWrites, recordKey } from './own-writes.ts'
import { type Joined, type Listeners, Subscriptions } from './subscriptions.ts'

/** What a request makes its peer listen to. */
export interface Follow {
  readonly records: readonly { readonly model: string; readonly ids: readonly RecordId[] }[]
  /** Models of which new records are wanted. */
  readonly models: readonly string[]
  /** The association the request added to. Only the log says which of its members are new: these are followed too. */
  readonly added?: Added | undefined
}

export interface Added {
  readonly model: string
  readonly id: RecordId
  readonly attribute: string
  /** The model of the members. */
  readonly target: string
}

/** An event, and the change that first tells of the operation it belongs to. */
interface Told {
  readonly message: Message
  readonly change: Change
}

/** From before a request began to what it found: what is told in between is told to its peer afterwards. */
export interface Joining {
  readonly peer: Peer
  readonly missed: Missed[]
  readonly write: OwnWrite | undefined
}

interface Missed extends Told {
  /** The peer listened already, and was told. */
  readonly isHeard: boolean
}

/** What a peer has added, until its own operation has come by in the log. */
interface Adding {
  readonly peer: Peer
  readonly added: Added
}

/** So many deliveries are made before others have their turn: a thousand writes to sockets take ten milliseconds. */
const deliveriesAtOnce = 500

/** So many writes of peers may wait to come by in the log before it is looked at. */
const mostEnded = 500

export interface HubOptions {
  readonly feed: Pick<Feed, 'listen' | 'look'>
  readonly covers: (position: Position, change: Change) => boolean
  readonly maxSubscriptions: number
}

/**
 * Peers and what they listen to. A subscription begins exactly where what its peer has read ends: nothing in between is
 * lost, and nothing that was read is told again.
 */
export class Hub implements FeedListener {
  readonly #subscriptions = new Subscriptions()
  readonly #options: HubOptions
  readonly #joinings = new Set<Joining>()
  readonly #peers = new Set<Peer>()
  readonly #ownWrites = new OwnWrites()
  #unsettled: Joined[] = []
  #adding: Adding[] = []
  #listening: Promise<Disposable> | undefined

  constructor(options: HubOptions) {
    this.#options = options
  }

  connect(peer: Peer): Disposable {
    this.#peers.add(peer)
    return {
      [Symbol.dispose]: () => {
        if (!this.#peers.delete(peer)) return
        this.#subscriptions.leave(peer)
        for (const joining of [...this.#joinings]) if (joining.peer === peer) this.#joinings.delete(joining)
        this.#adding = this.#adding.filter((adding) => adding.peer !== peer)
        this.#ownWrites.leave(peer)
        if (this.#peers.size === 0) this.#silence()
      },
    }
  }

  /** To be called before a request of the peer reads or writes. */
  async begin(peer: Peer, effect: 'reads' | 'writes'): Promise<Joining> {
    await this.#listen()
    const write = effect === 'writes' ? this.#ownWrites.begin(peer) : undefined
    const joining: Joining = { peer, missed: [], write }
    this.#joinings.add(joining)
    return joining
  }

  /** `position` is where the peer has read; a write read nothing, and hears everything since it began. */
  join(joining: Joining, follow: Follow, position: Position | undefined): void {
    const { peer, missed, write } = joining
    if (write) this.#end(write)
    if (!this.#joinings.delete(joining) || !this.#peers.has(peer)) return
    const records = follow.records.flatMap(({ model, ids }) => this.#unfollowed(peer, model, ids))
    if (this.#subscriptions.countOf(peer) + records.length > this.#options.maxSubscriptions) {
      this.#restart(peer)
      return
    }
    const models = follow.models.filter((model) => !this.#subscriptions.watchersOf(model)?.has(peer))
    const joined = position === undefined ? undefined : this.#joined(position)
    for (const { model, id } of records) this.#subscriptions.follow(peer, model, id, joined)
    for (const model of models) this.#subscriptions.watch(peer, model, joined)
    const adding = follow.added && { peer, added: follow.added }
    if (adding) this.#adding.push(adding)
    if (missed.length === 0) return
    const fresh = new Set([...models, ...records.map(({ model, id }) => recordKey(model, id))])
    this.#replay(peer, missed, joined, fresh, adding)
  }

  /** `isRefused`: nothing was written; otherwise it may have happened although the answer is that it failed. */
  abandon(joining: Joining, isRefused: boolean): void {
    this.#joinings.delete(joining)
    const { write } = joining
    if (!write) return
    if (isRefused) {
      this.#ownWrites.forget(write)
    } else {
      write.hasFailed = true
      this.#end(write)
    }
  }

  /** While a request is under way, nobody knows what its peer will listen to. */
  wants(model: string): boolean {
    return (
      this.#joinings.size > 0 ||
      this.#subscriptions.has(model) ||
      this.#adding.some(({ added }) => added.model === model)
    )
  }

  async hear({ events, changes, position }: Heard): Promise<void> {
    const change = changes[0] as Change
    let delivered = 0
    for (const [index, event] of events.entries()) {
      const message: Message = { event, position: index === events.length - 1 ? position : undefined }
      const listeners = this.#listenersOf(event)
      for (const { peer, missed } of this.#joinings)
        missed.push({ message, change, isHeard: listeners?.has(peer) === true })
      for (const adding of this.#adding) this.#adopt(adding, event, change)
      for (const [peer, joined] of [...(this.#listenersOf(event) ?? [])]) {
        if (this.#tell(peer, joined, message, change)) delivered++
        if (delivered === deliveriesAtOnce) {
          delivered = 0
          await nextTurn()
        }
      }
    }
  }

  settling(): (() => void) | undefined {
    const written = this.#ownWrites.settling()
    if (this.#unsettled.length === 0 && this.#adding.length === 0) return written
    const joined = this.#unsettled
    const adding = new Set(this.#adding)
    this.#unsettled = []
    return () => {
      written?.()
      for (const place of joined) place.settled = true
      if (adding.size > 0) this.#adding = this.#adding.filter((item) => !adding.has(item))
    }
  }

  reset(): void {
    this.#ownWrites.clear()
    for (const peer of [...this.#peers]) this.#restart(peer)
  }

  /** One event for one who listens; who was introduced by it, or has seen the last of a record, is noted. */
  #tell(peer: Peer, joined: Joined | undefined, message: Message, change: Change): boolean {
    const { event } = message
    // Others had their turn since the listeners were listed: it may be gone.
    if (!this.#peers.has(peer) || this.#isRead(joined, change)) return false
    if (event.verb === 'created') {
      // If it was read meanwhile, what happened to it up to there is told all the same: its beginning is.
      this.#subscriptions.unfollow(peer, event.model, event.id)
      this.#follow(peer, event.model, event.id, joined)
    }
    // One that gets this key later is a stranger.
    if (event.verb === 'destroyed') this.#subscriptions.unfollow(peer, event.model, event.id)
    if (change.origin !== peer.id) this.#ownWrites.tell(peer, event.model, event.id)
    else if (!peer.mirror && !this.#ownWrites.isOvertaken(peer, event.model, event.id)) return false
    return peer.send(message)
  }

  /** A write that changed nothing wakes nobody. */
  #end(write: OwnWrite): void {
    this.#ownWrites.end(write)
    if (this.#ownWrites.ended > mostEnded) this.#options.feed.look()
  }

  /** What was told while a peer's request was under way, of that which it listens to since. */
  #replay(
    peer: Peer,
    missed: readonly Missed[],
    joined: Joined | undefined,
    fresh: Set<string>,
    adding: Adding | undefined,
  ): void {
    for (const { message, change, isHeard } of missed) {
      const { event } = message
      const adopted = adding && this.#adopt(adding, event, change)
      if (adopted !== undefined) fresh.add(adopted)
      const record = recordKey(event.model, event.id)
      if (!fresh.has(event.verb === 'created' ? event.model : record)) continue
      if (event.verb === 'created') fresh.add(record)
      // It heard the end of a record that it has now found once more, as it was before.
      if (isHeard && event.verb === 'destroyed' && !this.#isRead(joined, change))
        this.#subscriptions.unfollow(peer, event.model, event.id)
      if (!isHeard && this.#listenersOf(event)?.has(peer)) this.#tell(peer, joined, message, change)
    }
  }

  /** Whether what a subscription began with holds the change already. */
  #isRead(joined: Joined | undefined, change: Change): boolean {
    return joined !== undefined && !joined.settled && this.#options.covers(joined.position, change)
  }

  /** Who became a member by what the peer did, if this tells of it and the peer did not follow it before. */
  #adopt({ peer, added }: Adding, event: Event, { origin }: Change): string | undefined {
    if (event.verb !== 'addedTo' || origin !== peer.id) return undefined
    if (event.model !== added.model || event.id !== added.id || event.attribute !== added.attribute) return undefined
    return this.#follow(peer, added.target, event.addedId, undefined)
      ? recordKey(added.target, event.addedId)
      : undefined
  }

  /** False: it followed before, or follows too much. */
  #follow(peer: Peer, model: string, id: RecordId, joined: Joined | undefined): boolean {
    if (this.#subscriptions.followersOf(model, id)?.has(peer)) return false
    if (this.#subscriptions.countOf(peer) < this.#options.maxSubscriptions)
      return this.#subscriptions.follow(peer, model, id, joined)
    this.#restart(peer)
    return false
  }

  #unfollowed(
    peer: Peer,
    model: string,
    ids: readonly RecordId[],
  ): { readonly model: string; readonly id: RecordId }[] {
    return ids.filter((id) => !this.#subscriptions.followersOf(model, id)?.has(peer)).map((id) => ({ model, id }))
  }

  /** It listens to nothing any more, and is told so. */
  #restart(peer: Peer): void {
    this.#subscriptions.leave(peer)
    peer.reset()
  }

  #listenersOf(event: Event): Listeners | undefined {
    return event.verb === 'created'
      ? this.#subscriptions.watchersOf(event.model)
      : this.#subscriptions.followersOf(event.model, event.id)
  }

  /** While nothing is written, what many requests have read is one place, and kept once. */
  #joined(position: Position): Joined {
    const last = this.#unsettled.at(-1)
    if (last?.position === position) return last
    const joined = { position, settled: false }
    this.#unsettled.push(joined)
    return joined
  }

  async #listen(): Promise<void> {
    this.#listening ??= this.#options.feed.listen(this)
    const listening = this.#listening
    try {
      await listening
    } catch (error) {
      if (this.#listening === listening) this.#listening = undefined // the next request tries again
      throw error
    }
  }

  #silence(): void {
    const listening = this.#listening
    this.#listening = undefined
    this.#unsettled = []
    this.#ownWrites.clear()
    listening?.then(
      (feed) => feed[Symbol.dispose](),
      () => {}, // those who waited for it were told
    )
  }
}
