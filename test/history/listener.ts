import type { JsonObject } from '../../src/protocol/json.ts'
import type { Answered } from '../sails-client.ts'
import { fenceId, heavy, memberships, type Truth } from './models.ts'
import { type HeardEvent, View, type Watching } from './view.ts'

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
const fenceIn = ({ id, data }: HeardEvent): number | undefined => {
  const [, number] = id === fenceId ? (/^fence (\d+)$/.exec(String(data?.mark)) ?? []) : []
  return number === undefined ? undefined : Number(number)
}

const longestTrail = 60

/** What somebody learns who is always there. */
export interface Witnessed {
  heard(mark: string): void
  /** Before it began, or began anew because it was told so, anything may have happened. */
  missed(): void
}

/** Somebody who listens, by whatever means, and believes what they hear. */
export class Listener {
  readonly name: string
  readonly watching: Watching
  readonly #fences: Fences
  readonly #witnessed: Witnessed | undefined
  #view: View | undefined
  /** It has passed this fence, or began behind it. */
  #passed = 0
  #skipped = 0
  #changed: (() => void)[] = []
  /** What last happened to it, for whoever must find out why it was told something wrong. */
  readonly #trail: string[] = []
  failure: Error | undefined
  compared = 0
  events = 0

  constructor(name: string, watching: Watching, fences: Fences, witnessed?: Witnessed) {
    this.name = name
    this.watching = watching
    this.#fences = fences
    this.#witnessed = witnessed
  }

  /**
   * To be called when it is known that nothing can be missed from now on. `isExact`: what is read and what is heard meet;
   * otherwise what is heard begins earlier.
   */
  async begin(isExact: boolean, read: () => Promise<readonly JsonObject[]>): Promise<void> {
    this.#view = undefined
    this.#witnessed?.missed()
    this.note('begins')
    const records = await read()
    this.note(`read ${records.length}`)
    // What is heard of a fence that stood when the records were read may come before what was read.
    this.#skipped = isExact ? 0 : this.#fences.begun
    this.#passed = this.#fences.last
    this.#view = new View(this.watching, records, isExact)
    this.#tell()
  }

  /** An operation, or a part of one from which nobody could resume. */
  hear(events: readonly HeardEvent[]): void {
    try {
      for (const event of events) this.#hear(event)
    } catch (error) {
      this.fail(error)
    }
  }

  #hear(event: HeardEvent): void {
    this.events++
    this.note(JSON.stringify(event))
    this.#view?.apply(event)
    const mark = event.data?.mark
    if (typeof mark === 'string') this.#witnessed?.heard(mark)
    const number = fenceIn(event)
    if (number === undefined) return
    const truth = this.#fences.get(number)
    if (truth && number > this.#skipped) {
      this.#view?.compare(truth, number)
      this.compared++
    }
    this.#passed = Math.max(this.#passed, number)
    this.#tell()
  }

  /** What it wrote itself, as it was answered: of that it need not hear. */
  believe({ statusCode, body }: Answered): void {
    this.note(`answered ${statusCode} ${JSON.stringify(body)}`)
    if (statusCode === 200) this.#view?.believe(body, this.#fences.begun)
  }

  fail(error: unknown): void {
    const told = error instanceof Error ? error.message : String(error)
    this.failure ??= new Error(`${this.name}: ${told}\nbefore that:\n  ${this.#trail.join('\n  ')}`, { cause: error })
    this.#tell()
  }

  note(what: string): void {
    this.#trail.push(what)
    if (this.#trail.length > longestTrail) this.#trail.shift()
  }

  hasPassed(number: number): boolean {
    return this.#passed >= number
  }

  /** Resolves when something has changed. */
  get change(): Promise<void> {
    return new Promise((resolve) => this.#changed.push(resolve))
  }

  #tell(): void {
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
  const populate = watching.isHeavy ? 'false' : JSON.stringify({ [attribute]: { limit: 10_000, select: ['id'] } })
  return { ...filterOf(watching), limit: 10_000, populate }
}
