import type { JsonObject } from '../../../src/protocol/json.ts'
import type { Answered } from '../../support/sails-client.ts'
import { fenceId, heavy, memberships, type Truth } from './models.ts'
import { followsMembers, type ReceivedEvent, View, type Watching } from './view.ts'

/** What is true at each fence, by its number. */
export class Fences {
  readonly #truths = new Map<number, Truth>()
  last = 0
  /** The last one that was begun. */
  begun = 0

  set(number: number, truth: Truth): void {
    this.#truths.set(number, truth)
  }

  get(number: number): Truth | undefined {
    return this.#truths.get(number)
  }
}

export const fenceMark = (number: number): string => `fence ${number}`
const fenceIn = (row: JsonObject | undefined): number | undefined => {
  const [, number] = row?.id === fenceId ? (/^fence (\d+)$/.exec(String(row.mark)) ?? []) : []
  return number === undefined ? undefined : Number(number)
}

const maxTrail = 60

/** Receives the marks of a listener that is always connected. */
export interface MarkListener {
  received(mark: string): void
  /** Before it began, or began again after `reset`, events may have been missed. */
  missed(): void
}

/** A subscriber over any transport, which applies every event to its records. */
export class Listener {
  readonly name: string
  readonly watching: Watching
  readonly #fences: Fences
  readonly #markListener: MarkListener | undefined
  #view: View | undefined
  /** It has passed this fence, or began behind it. */
  #passed = 0
  #skipped = 0
  #changed: (() => void)[] = []
  /** Its last events, for the error message. */
  readonly #trail: string[] = []
  failure: Error | undefined
  /** The fault of a history that must fail: a record that becomes unreadable stays. */
  ignoresLeaving = false
  compared = 0
  events = 0

  constructor(name: string, watching: Watching, fences: Fences, markListener?: MarkListener) {
    this.name = name
    this.watching = watching
    this.#fences = fences
    this.#markListener = markListener
  }

  /**
   * To be called when it is known that nothing can be missed from now on. `isExact`: what is read and what is received meet;
   * otherwise what is received begins earlier.
   */
  async begin(isExact: boolean, read: () => Promise<readonly JsonObject[]>): Promise<void> {
    this.#view = undefined
    this.#markListener?.missed()
    this.note('begins')
    const records = await read()
    this.note(`read ${records.length}`)
    // What is received of a fence that stood when the records were read may come before what was read.
    this.#skipped = isExact ? 0 : this.#fences.begun
    // A fence that was committed before it began is in what was read, and is not received.
    this.#passed = Math.max(this.#fences.last, ...records.map((record) => fenceIn(record) ?? 0))
    this.#view = new View(this.watching, records, isExact)
    this.#notify()
  }

  /** An operation, or the part of one that has no position. */
  receive(events: readonly ReceivedEvent[]): void {
    try {
      for (const event of events) this.#receive(event)
    } catch (error) {
      this.fail(error)
    }
  }

  #receive(event: ReceivedEvent): void {
    if (this.ignoresLeaving && event.verb === 'destroyed' && !event.previous) return
    this.events++
    this.note(JSON.stringify(event))
    this.#view?.apply(event)
    const mark = event.data?.mark
    if (typeof mark === 'string') this.#markListener?.received(mark)
    const number = fenceIn({ id: event.id, mark: event.data?.mark ?? null })
    if (number === undefined) return
    const truth = this.#fences.get(number)
    if (truth && number > this.#skipped && this.watching.user === undefined) {
      this.#view?.compare(truth, number)
      this.compared++
    }
    this.#passed = Math.max(this.#passed, number)
    this.#notify()
  }

  /** What it holds that is not true, in words; undefined: nothing. To be asked when nothing is under way. */
  differenceFrom(truth: Truth): string | undefined {
    try {
      this.#view?.compare(truth)
      this.compared++
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }

  /** A response to a write of its own, which may have no event. */
  applyResponse({ statusCode, body }: Answered): void {
    this.note(`answered ${statusCode} ${JSON.stringify(body)}`)
    if (statusCode === 200) this.#view?.applyResponse(body, this.#fences.begun)
  }

  fail(error: unknown): void {
    const received = error instanceof Error ? error.message : String(error)
    this.failure ??= new Error(`${this.name}: ${received}\nbefore that:\n  ${this.#trail.join('\n  ')}`, {
      cause: error,
    })
    this.#notify()
  }

  note(what: string): void {
    this.#trail.push(what)
    if (this.#trail.length > maxTrail) this.#trail.shift()
  }

  hasPassed(number: number): boolean {
    return this.#passed >= number
  }

  /** Resolves when something has changed. */
  get change(): Promise<void> {
    return new Promise((resolve) => this.#changed.push(resolve))
  }

  #notify(): void {
    for (const changed of this.#changed.splice(0)) changed()
  }
}

/** The condition, where only a part of the records is followed. */
export const whereOf = ({ isHeavy }: Watching) => (isHeavy ? { weight: { '>=': heavy } } : undefined)

/** The condition as a parameter. */
export function filterOf(watching: Watching): Record<string, string> {
  const where = whereOf(watching)
  return where ? { where: JSON.stringify(where) } : {}
}

/** What to ask for: all records, with their members where these are followed. */
export function queryOf(watching: Watching): Readonly<Record<string, string | number>> {
  const { attribute } = memberships[watching.model]
  const populate = !followsMembers(watching)
    ? 'false'
    : JSON.stringify({ [attribute]: { limit: 10_000, select: ['id'] } })
  return { ...filterOf(watching), limit: 10_000, populate }
}

/** Names the user of a listener in a history with rules. */
export const headersOf = ({ user }: Watching): Readonly<Record<string, string>> =>
  user === undefined ? {} : { 'x-user': user }
