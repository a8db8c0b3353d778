import type { Change, Position } from '../protocol/change.ts'
import { nextTurn } from '../support/next-turn.ts'
import type { Audience, Member, Seat } from './audience.ts'
import { BoundedQueue } from './bounded-queue.ts'
import { type Followed, type Heard, operationsIn } from './feed.ts'
import { eventsFor, ofVisible, type Visible, type Watched, type WatchedEvent } from './watched.ts'

/** What somebody hears who listens. Where they have taken an item they may resume at its position. */
export type LiveItem =
  | {
      /**
       * `ready`: all that is committed after the position will be heard. `reset`: something between what was heard and
       * the position was not. `still`: nothing more has happened up to there. `restart`: come back, and go on from there.
       */
      readonly kind: 'ready' | 'reset' | 'still' | 'restart'
      readonly position: Position
    }
  | {
      readonly kind: 'operation'
      readonly events: readonly WatchedEvent[]
      readonly position: Position
    }

export interface LiveLog extends Followed {
  covers(position: Position, change: Change): boolean
}

export interface LiveOptions {
  readonly log: LiveLog
  readonly audience: Audience
  readonly watched: Watched
  /** Asked, for a condition, about records of which nothing is known but that a member came or went. */
  readonly visible: Visible
  /** Where to begin; what it heard up to there it must not hear again. */
  readonly from: Position | Promise<Position>
  /** Somebody else says that they were there before: it may not be true, or long ago. */
  readonly isResumed: boolean
  readonly queue: {
    readonly capacity: number
    weigh(events: readonly WatchedEvent[]): number
    /** What becomes of one who takes more slowly than things happen: it is reset and ends, or it reads them in the log. */
    readonly whenFull: 'end' | 'reread'
  }
}

interface Waiting {
  readonly first: Change
  readonly events: readonly WatchedEvent[]
  readonly position: Position
}

const readAtOnce = 500

/**
 * What happens to a model, to some of its records or to one, from a place in the log on: first it reads the log as far
 * as it goes, at the pace of whoever takes it, and then it is told what happens. Nothing is left out in between, and
 * nothing heard twice.
 */
export class Live implements Member, AsyncIterableIterator<LiveItem, undefined, undefined> {
  readonly watched: Watched
  readonly #options: LiveOptions
  readonly #queue: BoundedQueue<Waiting>
  readonly #items: AsyncGenerator<LiveItem, undefined, undefined>
  #position: Position = ''
  #isAnnounced = false
  #seat: Seat | undefined
  #behind: { readonly slowAt: Position | undefined } | undefined
  #end: 'stopped' | 'ended' | undefined
  #isProbed = false
  #wake: (() => void) | undefined

  constructor(options: LiveOptions) {
    this.watched = options.watched
    this.#options = options
    this.#queue = new BoundedQueue(options.queue.capacity)
    this.#items = this.#run()
    if (options.from instanceof Promise) options.from.catch(() => {}) // told to whoever takes the first item
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<LiveItem, undefined>> {
    return this.#items.next()
  }

  /** Ends it at once, also while somebody waits for the next item. */
  async return(): Promise<IteratorResult<LiveItem, undefined>> {
    this.#finish('ended')
    return this.#items.return(undefined)
  }

  /** Whoever waits is told that nothing happened, if that is so. */
  probe(): void {
    this.#isProbed = true
    this.#wake?.()
  }

  stop(): void {
    this.#finish('stopped')
  }

  hear({ changes, events, position }: Heard): number {
    const first = changes[0] as Change
    if (this.#seat && !this.#seat.settled && this.#covers(this.#seat.position, first)) return 0
    const own = eventsFor(this.watched, events)
    if (own.length === 0) return 0
    const weight = this.#options.queue.weigh(own)
    if (!this.#queue.push({ first, events: own, position }, weight)) this.#fallBehind(position)
    this.#wake?.()
    return weight
  }

  miss(): void {
    this.#fallBehind(undefined)
    this.#wake?.()
  }

  async *#run(): AsyncGenerator<LiveItem, undefined, undefined> {
    const { audience, from, isResumed, queue } = this.#options
    audience.enter(this)
    try {
      this.#position = await from
      if (!isResumed) yield this.#announce('ready')
      while (!this.#end) {
        yield* this.#catchUp()
        yield* this.#follow()
        const slowAt = this.#behind?.slowAt
        this.#behind = undefined
        if (slowAt === undefined || queue.whenFull === 'reread' || this.#end) continue
        yield { kind: 'reset', position: slowAt }
        return
      }
      if (this.#end === 'stopped') yield { kind: 'restart', position: this.#position }
    } catch (error) {
      if (!this.#end) throw error // what breaks because we end is no failure
      if (this.#end === 'stopped' && this.#isAnnounced) yield { kind: 'restart', position: this.#position }
    } finally {
      this.#end = 'ended'
      audience.exit(this)
    }
  }

  /** Reads the log to its end, is told what happens from now on, and reads what happened until then. */
  async *#catchUp(): AsyncGenerator<LiveItem, undefined, undefined> {
    const { log, audience } = this.#options
    const { concerned } = audience.index
    const isWanted = (model: string) => concerned.get(model)?.includes(this.watched.model.name) === true
    for (let isTold = false; !this.#isOver; ) {
      const batch = await log.read(this.#position, readAtOnce, isWanted)
      if (this.#isOver) return
      if (batch === 'reset') {
        this.#position = await log.head()
        yield this.#announce('reset')
        continue
      }
      if (!this.#isAnnounced) yield this.#announce('ready')
      for (const { events, position } of operationsIn(batch.changes, audience.index)) {
        yield* this.#deliver(eventsFor(this.watched, events), position)
        if (this.#isOver) return
      }
      this.#position = batch.position
      if (this.#isProbed) yield this.#still()
      if (batch.changes.length > 0) await nextTurn()
      else if (isTold) return this.#sit()
      else {
        await audience.join(this)
        isTold = true
      }
    }
  }

  async *#follow(): AsyncGenerator<LiveItem, undefined, undefined> {
    while (!this.#isOver) {
      const next = this.#queue.shift()
      if (next) yield* this.#deliver(next.events, next.position)
      else if (this.#isProbed) yield this.#still()
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }

  async *#deliver(events: readonly WatchedEvent[], position: Position): AsyncGenerator<LiveItem, undefined, undefined> {
    const { where, id } = this.watched
    const told = where ? await ofVisible(events, this.#options.visible) : events
    if (this.#end) return
    if (told.length > 0) yield { kind: 'operation', events: told, position }
    this.#position = position
    if (id !== undefined && told.some(({ verb }) => verb === 'destroyed')) this.#finish('ended')
  }

  get #isOver(): boolean {
    return this.#end !== undefined || this.#behind !== undefined
  }

  /** Everything up to the position was read, and everything after it is told. */
  #sit(): undefined {
    if (this.#isOver) return
    const position = this.#position
    this.#seat = this.#options.audience.seat(position)
    this.#queue.keep(({ first }) => !this.#covers(position, first))
  }

  #announce(kind: 'ready' | 'reset'): LiveItem {
    this.#isAnnounced = true
    return { kind, position: this.#position }
  }

  /** For somebody who has taken all there was. That nothing of theirs happened since takes them further. */
  #still(): LiveItem {
    this.#isProbed = false
    if (this.#seat?.settled) this.#position = this.#options.audience.position ?? this.#position
    return { kind: 'still', position: this.#position }
  }

  /** What was told and not taken is let go of: it is in the log. */
  #fallBehind(slowAt: Position | undefined): void {
    this.#behind = { slowAt }
    this.#leave()
  }

  #finish(end: 'stopped' | 'ended'): void {
    if (this.#end) return
    this.#end = end
    this.#leave()
    this.#wake?.()
  }

  #leave(): void {
    this.#options.audience.leave(this)
    this.#seat = undefined
    this.#queue.keep(() => false)
  }

  #covers(position: Position, change: Change): boolean {
    return this.#options.log.covers(position, change)
  }
}
