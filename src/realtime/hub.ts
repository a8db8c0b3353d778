import type { Change, Position, RecordId } from '../protocol/change.ts'
import type { Event, Message, Peer } from '../protocol/event.ts'
import type { Feed, FeedListener, Heard } from './feed.ts'
import { type Joined, Subscriptions } from './subscriptions.ts'

/** What a request makes its peer listen to. */
export interface Follow {
  readonly records: readonly { readonly model: string; readonly ids: readonly RecordId[] }[]
  /** Models of which new records are wanted. */
  readonly models: readonly string[]
}

/** From before a request began to what it found: what is told in between is told to its peer afterwards. */
export interface Joining {
  readonly peer: Peer
  readonly missed: Heard[]
}

/** So many deliveries are made before others have their turn: a thousand writes to sockets take ten milliseconds. */
const deliveriesAtOnce = 500

export interface HubOptions {
  readonly feed: Feed
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
  #unsettled: Joined[] = []
  #listening: Promise<Disposable> | undefined

  constructor(options: HubOptions) {
    this.#options = options
  }

  connect(peer: Peer): Disposable {
    this.#peers.add(peer)
    return {
      [Symbol.dispose]: () => {
        this.#peers.delete(peer)
        this.#subscriptions.leave(peer)
        for (const joining of [...this.#joinings]) if (joining.peer === peer) this.#joinings.delete(joining)
        if (this.#peers.size === 0) this.#silence()
      },
    }
  }

  /** To be called before a request of the peer reads or writes. */
  async begin(peer: Peer): Promise<Joining> {
    this.#listening ??= this.#options.feed.listen(this)
    await this.#listening
    const joining: Joining = { peer, missed: [] }
    this.#joinings.add(joining)
    return joining
  }

  /** `position` is where the peer has read; a write read nothing, and hears everything since it began. */
  join(joining: Joining, follow: Follow, position: Position | undefined): void {
    const { peer, missed } = joining
    if (!this.#joinings.delete(joining) || !this.#peers.has(peer)) return
    const wanted = follow.records.reduce((count, { ids }) => count + ids.length, 0)
    if (this.#subscriptions.countOf(peer) + wanted > this.#options.maxSubscriptions) {
      peer.reset()
      return
    }
    const joined = position === undefined ? undefined : this.#joined(position)
    const already = new Set<string>()
    for (const { model, ids } of follow.records) {
      for (const id of ids) if (this.#subscriptions.followersOf(model, id)?.has(peer)) already.add(`${model}/${id}`)
      this.#subscriptions.follow(peer, model, ids, joined)
    }
    const watched = new Set(follow.models.filter((model) => this.#subscriptions.watchersOf(model)?.has(peer)))
    for (const model of follow.models) this.#subscriptions.watch(peer, model, joined)
    this.#replay(peer, missed, joined, already, watched)
  }

  abandon(joining: Joining): void {
    this.#joinings.delete(joining)
  }

  async hear(heard: Heard): Promise<void> {
    for (const { missed } of this.#joinings) missed.push(heard)
    let delivered = 0
    for (let index = 0; index < heard.events.length; index++) {
      const event = heard.events[index] as Event
      const message: Message = { event, position: index === heard.events.length - 1 ? heard.position : undefined }
      for (const [peer, joined] of [...(this.#listenersOf(event) ?? [])]) {
        if (!this.#isNews(peer, joined, heard)) continue
        if (event.verb === 'created') this.#subscriptions.follow(peer, event.model, [event.id], joined)
        peer.send(message)
        if (++delivered % deliveriesAtOnce === 0) await nextTurn()
      }
      if (event.verb === 'destroyed') this.#subscriptions.dissolve(event.model, event.id)
    }
  }

  settling(): () => void {
    const before = this.#unsettled
    this.#unsettled = []
    return () => {
      for (const joined of before) joined.settled = true
    }
  }

  reset(): void {
    for (const peer of [...this.#peers]) peer.reset()
  }

  #listenersOf(event: Event) {
    return event.verb === 'created'
      ? this.#subscriptions.watchersOf(event.model)
      : this.#subscriptions.followersOf(event.model, event.id)
  }

  #isNews(peer: Peer, joined: Joined | undefined, { changes }: Heard): boolean {
    const change = changes[0] as Change
    if (change.origin === peer.id && !peer.mirror) return false
    return joined === undefined || joined.settled || !this.#options.covers(joined.position, change)
  }

  #replay(
    peer: Peer,
    missed: readonly Heard[],
    joined: Joined | undefined,
    already: ReadonlySet<string>,
    watched: ReadonlySet<string>,
  ): void {
    for (const heard of missed) {
      heard.events.forEach((event, index) => {
        const isNew = event.verb === 'created' ? !watched.has(event.model) : !already.has(`${event.model}/${event.id}`)
        if (!isNew || !this.#listenersOf(event)?.has(peer) || !this.#isNews(peer, joined, heard)) return
        peer.send({ event, position: index === heard.events.length - 1 ? heard.position : undefined })
        if (event.verb === 'destroyed') this.#subscriptions.unfollow(peer, event.model, event.id)
      })
    }
  }

  #joined(position: Position): Joined {
    const joined = { position, settled: false }
    this.#unsettled.push(joined)
    return joined
  }

  #silence(): void {
    const listening = this.#listening
    this.#listening = undefined
    void listening?.then((feed) => feed[Symbol.dispose]())
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
