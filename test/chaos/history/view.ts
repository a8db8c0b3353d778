import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject } from '../../../src/protocol/json.ts'
import { byId, heavy, type ModelName, memberships, type Rows, type Truth } from './models.ts'
import { readable, type UserName } from './rules.ts'

/** An event or a record contradicts the others. */
export class Violation extends Error {}

export interface ReceivedEvent {
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
  /** The user that reads, in a history with rules; its members are not followed. */
  readonly user?: UserName
}

export const followsMembers = ({ isHeavy, user }: Watching): boolean => !isHeavy && user === undefined

/**
 * The records of a client that has read them once and applies every event since then. Each event must fit: its previous
 * values are those of the client.
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
   * holds may be newer than the next event, and must be true at the fence after that.
   */
  readonly #own = new Map<number, number>()

  /** `isExact`: what was read and what is received meet exactly; otherwise what is received begins earlier. */
  constructor(watching: Watching, read: readonly JsonObject[], isExact: boolean) {
    this.#watching = watching
    this.#isExact = isExact
    const { attribute } = memberships[watching.model]
    this.#rows = byId(read.map(({ [attribute]: _, ...row }) => flat(row)))
    for (const { id, [attribute]: members = [] } of read)
      this.#members.set(id as number, new Set((members as JsonObject[]).map((member) => idOf(member))))
  }

  apply(event: ReceivedEvent): void {
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
        // What passes out of sight is received without its values.
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

  applyResponse(answered: JsonObject, fence: number): void {
    const { [memberships[this.#watching.model].attribute]: _, ...row } = answered
    this.#rows.set(row.id as number, flat(row))
    this.#own.set(row.id as number, fence)
  }

  #move(event: ReceivedEvent): void {
    const { verb, id, attribute, addedId, removedId } = event
    if (!followsMembers(this.#watching) || attribute !== memberships[this.#watching.model].attribute) return
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

  #expect(event: ReceivedEvent, before: JsonObject | undefined): void {
    // An event is judged by the rules as they are when it is delivered, and what was read by those before.
    if (this.#watching.user !== undefined) return
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

  /** Throws where what is held differs from what is true at a fence, or when all is received. */
  compare(truth: Truth, fence = Number.POSITIVE_INFINITY): void {
    for (const [id, answeredAt] of this.#own) if (answeredAt < fence) this.#own.delete(id)
    const { model } = this.#watching
    const { members } = truth[model]
    const seen = this.#seen(truth)
    for (const id of new Set([...seen.keys(), ...this.#rows.keys()])) {
      const [is, held] = [seen.get(id), this.#rows.get(id)]
      if (!this.#own.has(id) && !isDeepStrictEqual(is, held))
        throw new Violation(`${model} ${id} is ${JSON.stringify(is)}, and held was ${JSON.stringify(held)}`)
      if (!followsMembers(this.#watching)) continue
      const [are, believed] = [sorted(members.get(id)), sorted(this.#members.get(id))]
      if (!isDeepStrictEqual(are, believed))
        throw new Violation(`members of ${model} ${id} are ${are}, and held were ${believed}`)
    }
  }

  #seen(truth: Truth): Rows {
    const { model, isHeavy, user } = this.#watching
    const rows = user === undefined ? truth[model].rows : readable(user, model, truth)
    return new Map([...rows].filter(([, row]) => !isHeavy || (row.weight as number) >= heavy))
  }
}

const sorted = (ids: ReadonlySet<number> | undefined): readonly number[] => [...(ids ?? [])].sort((a, b) => a - b)

const idOf = (member: Json): number => (typeof member === 'object' ? (member as JsonObject).id : member) as number

/** An embedded owner counts as its key. */
const flat = ({ owner, ...row }: JsonObject): JsonObject =>
  owner === undefined ? row : { ...row, owner: owner === null ? null : idOf(owner) }

const said = (event: ReceivedEvent): string => JSON.stringify(event)
