import type { JsonObject } from '../../../src/protocol/json.ts'
import { type HeldQuery, LiveTestClient } from '../../support/live-client.ts'
import type { Random } from '../../support/random.ts'
import type { UserName } from '../history/rules.ts'

/** What a client held of a query at a position that it received. */
export interface Moment {
  readonly watcher: string
  readonly query: JsonObject
  readonly user: UserName | undefined
  readonly held: HeldQuery
  /** The frame that it follows. */
  readonly event: string
}

/** Sends a request to one of the services. */
export type Send = (path: string, init: RequestInit) => Promise<Response>

/** A client of live queries that is cut off and comes back, to any of the services, and that does not read for a while. */
export class Watcher {
  readonly name: string
  readonly user: UserName | undefined
  readonly queries: Readonly<Record<string, JsonObject>>
  readonly #onMoment: (moment: Moment) => void
  #client: LiveTestClient | undefined
  #held: ReadonlyMap<string, HeldQuery> = new Map()
  frames = 0
  resumed = 0
  resets = 0

  constructor(
    name: string,
    user: UserName | undefined,
    queries: Readonly<Record<string, JsonObject>>,
    onMoment: (moment: Moment) => void,
  ) {
    this.name = name
    this.user = user
    this.queries = queries
    this.#onMoment = onMoment
  }

  get isConnected(): boolean {
    return this.#client !== undefined && !this.#client.isEnded
  }

  get held(): ReadonlyMap<string, HeldQuery> {
    return this.#client?.held ?? this.#held
  }

  get operations(): ReadonlySet<string> {
    return this.#client?.operations ?? new Set()
  }

  stall(isStalled: boolean): void {
    this.#client?.stall(isStalled)
  }

  /** Resumes what it holds, or begins anew. The server may be gone meanwhile. */
  async connect(send: Send | undefined, random: Random): Promise<void> {
    if (send === undefined || this.isConnected) return
    const mayResume = random.chance(0.8)
    const kept = new Map(mayResume ? this.held : [])
    const queries = Object.entries(this.queries).map(([name, query]) => {
      const held = kept.get(name)
      if (!held) return [name, query]
      this.resumed++
      return [name, { ...query, after: held.position, ids: held.rows.map(({ id }) => id as number) }]
    })
    const headers: Record<string, string> = this.user === undefined ? {} : { 'x-user': this.user }
    const onHeld = (name: string, held: HeldQuery, event: string): void => {
      this.frames++
      const query = this.queries[name] as JsonObject
      this.#onMoment({ watcher: this.name, query, user: this.user, held: { ...held }, event })
    }
    try {
      this.#client = await LiveTestClient.open('', Object.fromEntries(queries), headers, kept, undefined, onHeld, send)
    } catch (error) {
      const isRefused =
        error instanceof Error && error.name === 'AssertionError' && !/the stream ended/.test(error.message)
      if (isRefused) throw error // otherwise the server has gone
    }
  }

  async cut(): Promise<void> {
    const client = this.#client
    if (!client) return
    await client.close()
    this.resets += client.frames.filter(({ event }) => event === 'reset').length
    this.#held = client.held
    this.#client = undefined
  }
}
