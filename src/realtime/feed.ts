import type { Models } from '../model/model.ts'
import type { Change, Position } from '../protocol/change.ts'
import type { Event } from '../protocol/event.ts'
import type { Maybe } from '../support/maybe.ts'
import { nextTurn } from '../support/next-turn.ts'
import { type EventIndex, eventsOf, indexEvents } from './events.ts'

/** The part of a log of changes that is followed. */
export interface Followed {
  head(): Maybe<Position>
  read(
    after: Position,
    limit: number,
    isWanted?: (model: string) => boolean,
  ): Maybe<{ readonly changes: readonly Change[]; readonly position: Position } | 'reset'>
  onWake(listener: () => void): Disposable
}

/** One operation, as it is heard. */
export interface Heard {
  readonly changes: readonly Change[]
  readonly events: readonly Event[]
  /** Where somebody who has heard all of it may resume. */
  readonly position: Position
}

export interface FeedListener {
  /** Whether it wants to hear of records of this model. Asked for each change before it is read, and told if anybody does. */
  wants(model: string): boolean
  /** Everything waits until it is done, so that each hears the order of the log. */
  hear(heard: Heard): Maybe<void>
  /** Everything that it wants up to there has been told. */
  passed?(position: Position): void
  /** Called before the log is read; what it returns is called when all that was committed by then has been told. */
  settling(): (() => void) | undefined
  /** Changes may have been missed. */
  reset(): void
}

const changesAtOnce = 500
/** After the log could not be read. */
const retryMs = 1000

/**
 * Follows the log on behalf of everybody who listens in this process: read once, told to each in the order of the log.
 * While nobody listens nothing is read, and a write costs nothing for it.
 */
export class Feed {
  readonly #log: Followed
  readonly #index: EventIndex
  readonly #report: (error: unknown) => void
  /** Each listening is one of its own, so that who ends one and begins another keeps the other. */
  readonly #listenings = new Set<{ readonly listener: FeedListener }>()
  /** To be called when the log was read to its end. It stays when the log could not be read. */
  #unsettled: (() => void)[] = []
  #position: Position | undefined
  #waking: Disposable | undefined
  #reading: Promise<void> | undefined
  #again = false

  constructor(log: Followed, models: Models, report: (error: unknown) => void) {
    this.#log = log
    this.#index = indexEvents(models)
    this.#report = report
  }

  get index(): EventIndex {
    return this.#index
  }

  /** Resolves when every change that is committed from now on will be heard. */
  async listen(listener: FeedListener): Promise<Disposable> {
    const listening = { listener }
    this.#listenings.add(listening)
    if (!this.#waking) {
      this.#waking = this.#log.onWake(() => this.#wake())
      this.#position = undefined
    }
    const silence = () => {
      this.#listenings.delete(listening)
      if (this.#listenings.size === 0) this.close()
    }
    try {
      await this.#started()
    } catch (error) {
      silence()
      throw error
    }
    return { [Symbol.dispose]: silence }
  }

  /** Reads on, though nobody said that there is more: what was waited for in vain is settled. */
  look(): void {
    if (this.#waking) this.#wake()
  }

  close(): void {
    this.#waking?.[Symbol.dispose]()
    this.#waking = undefined
    this.#position = undefined
    this.#unsettled = []
  }

  async #started(): Promise<void> {
    if (this.#position === undefined) {
      const head = await this.#log.head()
      this.#position ??= head
    }
  }

  #wake(): void {
    this.#again = true
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
      if (this.#again && this.#waking) this.#wake()
    })
  }

  async #read(): Promise<void> {
    while (this.#again && this.#waking) {
      this.#again = false
      try {
        await this.#started()
        await this.#readOn()
      } catch (error) {
        if (!this.#waking) return // nobody listens any more, and the log may be closed by now
        this.#report(error)
        // From where we are, and soon: what could not be read may be the last for a long time.
        setTimeout(() => this.#wake(), retryMs).unref()
        return
      }
    }
  }

  async #readOn(): Promise<void> {
    const waking = this.#waking
    // Those who listened may be gone, and others have begun elsewhere, or are about to.
    const isOver = () => this.#position === undefined || this.#waking !== waking
    if (isOver()) return
    for (let told = 0; ; ) {
      for (const { listener } of this.#listenings) {
        const settle = listener.settling()
        if (settle) this.#unsettled.push(settle)
      }
      const from = this.#position as Position
      const batch = await this.#log.read(from, changesAtOnce, (model) => this.#isWanted(model))
      if (isOver()) return
      if (batch === 'reset') {
        const head = await this.#log.head()
        if (isOver()) return
        this.#position = head
        for (const { listener } of [...this.#listenings]) listener.reset()
        this.#settle()
        return
      }
      await this.#tell(batch.changes)
      if (isOver()) return
      this.#position = batch.position
      for (const { listener } of [...this.#listenings]) listener.passed?.(batch.position)
      if (batch.changes.length === 0) return this.#settle()
      told += batch.changes.length
      if (told < changesAtOnce) continue
      told = 0
      await nextTurn() // reading a file never waits for anything by itself
      if (isOver()) return
    }
  }

  #settle(): void {
    for (const settle of this.#unsettled.splice(0)) settle()
  }

  #isWanted(model: string): boolean {
    for (const name of this.#index.concerned.get(model) ?? []) {
      for (const { listener } of this.#listenings) if (listener.wants(name)) return true
    }
    return false
  }

  async #tell(changes: readonly Change[]): Promise<void> {
    for (const heard of operationsIn(changes, this.#index)) {
      for (const { listener } of [...this.#listenings]) {
        const waiting = listener.hear(heard)
        if (waiting instanceof Promise) await waiting
      }
    }
  }
}

/** The changes, operation by operation. Rows of one operation stand together. */
export function* operationsIn(changes: readonly Change[], index: EventIndex): Generator<Heard> {
  for (let from = 0; from < changes.length; ) {
    let to = from + 1
    while (to < changes.length && changes[to]?.operation === changes[from]?.operation) to++
    const operation = changes.slice(from, to)
    yield { changes: operation, events: eventsOf(operation, index), position: (operation.at(-1) as Change).position }
    from = to
  }
}
