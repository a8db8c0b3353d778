import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject } from '../../src/protocol/json.ts'
import { byId, heavy, type ModelName, memberships, type Truth } from './models.ts'

/** What was heard cannot be true. */
export class Violation extends Error {}

export interface HeardEvent {
  readonly verb: string
  readonly id: number
  readonly data?: JsonObject
  readonly previous?: JsonObject
  readonly attribute?: string
  readonly addedId?: number
  readonly removedId?: number
}

export interface Watching {
  readonly model: ModelName
  /** Only those that weigh as much as `heavy`; of these members are not followed. */
  readonly isHeavy: boolean
}

/**
 * What somebody holds to be true who has read the records once, and since then believes what they hear. Each event must
 * fit to what is held: it tells what was there before.
 */
export class View {
  readonly #watching: Watching
  readonly #isExact: boolean
  readonly #rows: Map<number, JsonObject>
  readonly #members = new Map<number, Set<number>>()
  /** Where the reading may be newer than an event, the first event of a record proves nothing. */
  readonly #proven = new Set<string>()
  /**
   * What it wrote itself, in between what others did, with the last fence that was begun when it was answered: what it
   * holds may be newer than what it hears next, and must be true at the fence after that.
   */
  readonly #own = new Map<number, number>()

  /** `isExact`: what was read and what is heard meet exactly; otherwise what is heard begins earlier. */
  constructor(watching: Watching, read: readonly JsonObject[], isExact: boolean) {
    this.#watching = watching
    this.#isExact = isExact
    const { attribute } = memberships[watching.model]
    this.#rows = byId(read.map(({ [attribute]: _, ...row }) => flat(row)))
    for (const { id, [attribute]: members = [] } of read)
      this.#members.set(id as number, new Set((members as JsonObject[]).map((member) => idOf(member))))
  }

  apply(event: HeardEvent): void {
    switch (event.verb) {
      case 'created':
        this.#expect(event, undefined)
        this.#rows.set(event.id, event.data as JsonObject)
        return
      case 'updated':
        this.#expect(event, event.previous)
        this.#rows.set(event.id, { ...event.previous, ...event.data })
        return
      case 'destroyed':
        // What passes out of sight is heard without its values.
        if (event.previous) this.#expect(event, event.previous)
        else if (!this.#rows.has(event.id)) this.#expect(event, {})
        this.#rows.delete(event.id)
        this.#members.delete(event.id)
        return
      case 'addedTo':
      case 'removedFrom':
        this.#move(event)
        return
      default:
        throw new Violation(`there is no event ${event.verb}`)
    }
  }

  believe(answered: JsonObject, fence: number): void {
    const { [memberships[this.#watching.model].attribute]: _, ...row } = answered
    this.#rows.set(row.id as number, flat(row))
    this.#own.set(row.id as number, fence)
  }

  #move(event: HeardEvent): void {
    const { verb, id, attribute, addedId, removedId } = event
    if (this.#watching.isHeavy || attribute !== memberships[this.#watching.model].attribute) return
    const members = this.#members.get(id) ?? new Set<number>()
    this.#members.set(id, members)
    const member = (addedId ?? removedId) as number
    const key = `${id} ${member}`
    const isNew = verb === 'addedTo'
    if (this.#isCertain(key) && members.has(member) === isNew)
      throw new Violation(`${said(event)}, and ${member} was ${isNew ? 'there' : 'not there'} already`)
    if (isNew) members.add(member)
    else members.delete(member)
  }

  #expect(event: HeardEvent, before: JsonObject | undefined): void {
    const held = this.#rows.get(event.id)
    if (this.#own.has(event.id)) return
    if (this.#isCertain(String(event.id)) && !isDeepStrictEqual(held, before))
      throw new Violation(`${said(event)}, and held was ${JSON.stringify(held)}`)
  }

  #isCertain(key: string): boolean {
    if (this.#isExact || this.#proven.has(key)) return true
    this.#proven.add(key)
    return false
  }

  /** Throws where what is held differs from what is true at a fence, or when all is told. */
  compare(truth: Truth, fence = Number.POSITIVE_INFINITY): void {
    for (const [id, answeredAt] of this.#own) if (answeredAt < fence) this.#own.delete(id)
    const { model, isHeavy } = this.#watching
    const { rows, members } = truth[model]
    const seen = new Map([...rows].filter(([, row]) => !isHeavy || (row.weight as number) >= heavy))
    for (const id of new Set([...seen.keys(), ...this.#rows.keys()])) {
      const [is, held] = [seen.get(id), this.#rows.get(id)]
      if (!this.#own.has(id) && !isDeepStrictEqual(is, held))
        throw new Violation(`${model} ${id} is ${JSON.stringify(is)}, and held was ${JSON.stringify(held)}`)
      if (isHeavy) continue
      const [are, believed] = [sorted(members.get(id)), sorted(this.#members.get(id))]
      if (!isDeepStrictEqual(are, believed))
        throw new Violation(`members of ${model} ${id} are ${are}, and held were ${believed}`)
    }
  }
}

const sorted = (ids: ReadonlySet<number> | undefined): readonly number[] => [...(ids ?? [])].sort((a, b) => a - b)

const idOf = (member: Json): number => (typeof member === 'object' ? (member as JsonObject).id : member) as number

/** An embedded owner counts as its key. */
const flat = ({ owner, ...row }: JsonObject): JsonObject =>
  owner === undefined ? row : { ...row, owner: owner === null ? null : idOf(owner) }

const said = (event: HeardEvent): string => JSON.stringify(event)
