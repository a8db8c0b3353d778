import type { Position, RecordId } from '../protocol/change.ts'
import { entry } from '../support/entry.ts'
import { nextTurn } from '../support/next-turn.ts'
import type { EventIndex } from './events.ts'
import type { Feed, Heard } from './feed.ts'
import type { Watched } from './watched.ts'

/** Somebody who takes what happens in order, as a stream or an iterator. */
export interface Member {
  readonly watched: Watched
  /** Answers how much of it now waits to be taken. */
  hear(heard: Heard): number
  /** Changes may have been missed. */
  miss(): void
  /** The service stops. */
  stop(): void
}

/** A place in the log up to which a member has read by itself. */
export interface Seat {
  readonly position: Position
  /** Everything up to there has been told: from now on all of it is news. */
  settled: boolean
}

/** So much is handed out before those who take it have their turn. */
const handedOutAtOnce = 131_072

/** Those who listen to models, records and conditions: each is told only what may concern it. */
export class Audience {
  readonly #feed: Feed
  readonly #present = new Set<Member>()
  readonly #ofModel = new Map<string, Set<Member>>()
  readonly #ofRecord = new Map<string, Map<RecordId, Set<Member>>>()
  readonly #joined = new Set<Member>()
  #listening: Promise<Disposable> | undefined
  #unsettled: Seat[] = []
  #position: Position | undefined
  #handedOut = 0
  #isStopped = false

  constructor(feed: Feed) {
    this.#feed = feed
  }

  get index(): EventIndex {
    return this.#feed.index
  }

  /** Where all has been told; undefined while nothing has been since somebody joined. */
  get position(): Position | undefined {
    return this.#position
  }

  /** From now on it is stopped with the others, which is at once where they have been. */
  enter(member: Member): void {
    this.#present.add(member)
    if (this.#isStopped) member.stop()
  }

  /** Resolves when the member hears of every change that is committed from now on. */
  async join(member: Member): Promise<void> {
    this.#joined.add(member)
    this.#membersBeside(member).add(member)
    this.#listening ??= this.#listen()
    try {
      await this.#listening
    } catch (error) {
      this.#leave(member)
      throw error
    }
  }

  /** What the log held up to a place is not to be told to a member: it has read that far itself. */
  seat(position: Position): Seat {
    const seat = { position, settled: false }
    this.#unsettled.push(seat)
    return seat
  }

  /** It hears no more for now. */
  leave(member: Member): void {
    if (this.#joined.has(member)) this.#leave(member)
  }

  exit(member: Member): void {
    this.leave(member)
    this.#present.delete(member)
  }

  stop(): void {
    this.#isStopped = true
    for (const member of [...this.#present]) member.stop()
  }

  #listen(): Promise<Disposable> {
    // An object of its own each time, so that the end of an earlier listening does not end this one.
    return this.#feed.listen({
      wants: (model) => this.#ofModel.has(model) || (this.#ofRecord.get(model)?.size ?? 0) > 0,
      hear: (heard) => this.#hear(heard),
      passed: (position) => {
        this.#position = position
      },
      settling: () => this.#settling(),
      reset: () => {
        for (const member of [...this.#joined]) member.miss()
      },
    })
  }

  #leave(member: Member): void {
    this.#joined.delete(member)
    const { model, id } = member.watched
    const beside = this.#membersBeside(member)
    beside.delete(member)
    if (beside.size === 0) {
      if (id === undefined) this.#ofModel.delete(model.name)
      else this.#ofRecord.get(model.name)?.delete(id)
    }
    if (this.#joined.size > 0) return
    const listening = this.#listening
    this.#listening = undefined
    this.#position = undefined
    listening?.then(
      (feed) => feed[Symbol.dispose](),
      () => {}, // whoever joined was told
    )
  }

  #membersBeside({ watched: { model, id } }: Member): Set<Member> {
    if (id === undefined) return entry(this.#ofModel, model.name, () => new Set<Member>())
    const records = entry(this.#ofRecord, model.name, () => new Map<RecordId, Set<Member>>())
    return entry(records, id, () => new Set<Member>())
  }

  #hear(heard: Heard): Promise<void> | undefined {
    const concerned = new Set<Member>()
    for (const { model, id } of heard.events) {
      for (const member of this.#ofModel.get(model) ?? []) concerned.add(member)
      for (const member of this.#ofRecord.get(model)?.get(id) ?? []) concerned.add(member)
    }
    if (concerned.size > 0) return this.#tell(concerned, heard)
  }

  async #tell(concerned: ReadonlySet<Member>, heard: Heard): Promise<void> {
    for (const member of concerned) {
      if (!this.#joined.has(member)) continue
      this.#handedOut += member.hear(heard)
      if (this.#handedOut < handedOutAtOnce) continue
      this.#handedOut = 0
      await nextTurn()
    }
  }

  #settling(): (() => void) | undefined {
    if (this.#unsettled.length === 0) return undefined
    const before = this.#unsettled
    this.#unsettled = []
    return () => {
      for (const seat of before) seat.settled = true
    }
  }
}
