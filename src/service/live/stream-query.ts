import type { Position } from '../../protocol/change.ts'
import { conditionSize, type LiveQuery, type QuerySubscriber } from '../../realtime/queries/live-query.ts'
import type { QueryPlan, QueryResult } from '../../realtime/queries/query-plan.ts'
import { type LiveFrame, type PositionedFrame, resumedFrame, rowsFrame } from './live-frame.ts'
import type { HeldList } from './live-request.ts'
import type { MissedChanges } from './missed-changes.ts'
import { encodeResumePosition } from './resume-position.ts'

/** What a query of a stream needs of the stream. */
export interface QueryOwner {
  send(frame: LiveFrame): void
  /** The rows were sent, or are not going to be. */
  onJoined(query: StreamQuery): void
  onFailed(query: StreamQuery, error: unknown): void
  /** A query holds rows that are not current. */
  onReset(): void
  missedSince(position: Position): MissedChanges
}

/** A query with the rules of its requester. */
export interface PlannedQuery {
  readonly name: string
  readonly plan: QueryPlan
  /** Tells whether a client that resumes holds rows with the values of this plan. */
  readonly digest: string
  readonly held: HeldList | undefined
}

/** One query of a stream: turns what the shared query tells into frames with the name that the client gave it. */
export class StreamQuery implements QuerySubscriber {
  readonly name: string
  readonly plan: QueryPlan
  readonly digest: string
  readonly client: object
  readonly #owner: QueryOwner
  #held: HeldList | undefined
  /** While the client's rows are compared, what follows waits. */
  #delayed: PositionedFrame[] | undefined
  /** The shared query, while it is subscribed to. */
  shared: LiveQuery | undefined
  /** Counts its memory while it is not. */
  unshared: Disposable | undefined
  /** Its frames were dropped, changes were missed, or other values may be read now: the client holds rows that are not current. */
  mustReset: boolean

  constructor({ name, plan, digest, held }: PlannedQuery, owner: QueryOwner & object) {
    this.name = name
    this.plan = plan
    this.digest = digest
    this.mustReset = held !== undefined && !held.after.digests.includes(digest)
    this.client = owner
    this.#owner = owner
    this.#held = held
  }

  /** The memory of its condition and of the keys that the client holds, in rows. */
  get size(): number {
    return conditionSize(this.plan) + (this.#held?.ids.length ?? 0)
  }

  /** Operations of this turn and later ones may not have reached the client. */
  get unsettledSince(): number {
    if (this.mustReset) return 0
    return this.shared?.unsettledSince ?? Number.POSITIVE_INFINITY
  }

  onRows(result: QueryResult): void {
    const held = this.#held
    this.#held = undefined
    if (!held || this.mustReset) {
      this.#sendRows(result)
      this.#owner.onJoined(this)
    } else this.#resume(held, result).catch((error) => this.onFailure(error))
  }

  onDifference(position: Position, body: string): void {
    if (this.mustReset) return // rows follow
    const frame: PositionedFrame = { event: 'diff', query: this.name, position, body }
    if (this.#delayed) this.#delayed.push(frame)
    else this.#send(frame)
  }

  onFailure(error: unknown): void {
    this.shared = undefined
    this.#owner.onFailed(this, error)
  }

  onGap(): void {
    this.mustReset = true
    this.#owner.onReset()
    this.#delayed = undefined
  }

  async #resume({ after, ids }: HeldList, result: QueryResult): Promise<void> {
    const delayed: PositionedFrame[] = []
    this.#delayed = delayed
    const found = await this.#owner
      .missedSince(after.position)
      .differenceFrom(ids, result, this.plan)
      .catch(() => 'reset' as const)
    if (this.#delayed !== delayed) return // it has ended, or starts anew
    this.#delayed = undefined
    if (found !== 'reset') this.#send(resumedFrame(this.name, result, found.difference))
    else {
      this.mustReset = true
      this.#sendRows(result)
    }
    for (const frame of delayed) if (!this.mustReset) this.#send(frame)
    this.#owner.onJoined(this)
  }

  #sendRows(result: QueryResult): void {
    const mustReset = this.mustReset
    this.mustReset = false
    if (mustReset) this.#owner.send({ event: 'reset', query: this.name })
    // Its frames may have been dropped with this one: then it is read again later.
    if (!this.mustReset) this.#send(rowsFrame(this.name, result, this.plan.model.primaryKey.name))
  }

  #send(frame: PositionedFrame): void {
    this.#owner.send({ ...frame, position: encodeResumePosition(frame.position, [this.digest]) })
  }

  end(): void {
    this.#delayed = undefined
  }
}
