import { hasLongText } from '../../criteria/matches-in-turns.ts'
import type { Change, Position, RecordId } from '../../protocol/change.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { StartPosition, StartPositions } from '../start-position.ts'
import { LocalRows, type Matched } from './local-rows.ts'
import type { QueryPlan, QueryResult } from './query-plan.ts'
import { differenceOf, encodeDifference, type HeldRow } from './row-difference.ts'
import type { QueuedRun } from './run-queue.ts'

/** A consumer of one query. Its methods do not throw. */
export interface QuerySubscriber {
  /** The consumer of several queries that it belongs to. */
  readonly client: object
  /** The rows that it starts from, or starts from anew after changes were missed. */
  onRows(result: QueryResult): void
  /** `body`: the members of the difference as JSON text, each with a comma before it. */
  onDifference(position: Position, body: string): void
  /** The query cannot be run; the subscription has ended. */
  onFailure(error: unknown): void
  /** Changes may have been missed: rows follow. */
  onGap(): void
}

/**
 * This many characters of a plan's key count as one row: each subscriber may keep a copy of its condition, whose size the key shows.
 */
const charactersOfRow = 25

/** The memory of the condition of one subscriber, in rows. */
export const conditionSize = ({ key }: QueryPlan): number => Math.ceil(key.length / charactersOfRow)

/** Changes that are buffered during a run. If there are more, or if one has long texts, the query is run again instead. */
const keptChanges = 500

/** How long they may be applied in one turn of the event loop. */
const longestReactionMs = 4

/** Later rows, and the text of their difference to the rows that are held. */
interface Difference {
  readonly rows: readonly HeldRow[]
  readonly body: string
}

/** What a change asks for: nothing, a difference at the end of the turn, or a run. */
export type Reaction = 'none' | 'touched' | 'run'

/** One computation for all subscribers of equal queries: the rows that they hold, and what changes them. */
export class LiveQuery {
  readonly plan: QueryPlan
  readonly #subscribers = new Set<QuerySubscriber>()
  /** They receive the rows of the next run. */
  #joining: Set<QuerySubscriber> | undefined
  /** They receive the rows of the run under way. */
  #served: Set<QuerySubscriber> | undefined
  /** They receive the rows of the last run, `#serving`, in later turns of the event loop. */
  #waiting: Set<QuerySubscriber> | undefined
  #serving: QueryResult | undefined
  /** The size of the condition of each subscriber, in rows. */
  readonly #conditionSize: number
  /** The first turn whose changes the held rows may lack; infinite when they lack none. */
  unsettledSince = Number.POSITIVE_INFINITY
  isQueued = false
  isRunning = false
  /** Its run, while it waits for those of others. */
  queuedRun: QueuedRun | undefined
  /** What counts of its size among all queries. */
  countedSize = 0
  #starts: StartPositions
  #start: StartPosition | undefined
  #rows: readonly HeldRow[] = []
  #total: number | undefined
  /** The difference of changes that were applied, until it is sent. */
  #prepared: Difference | undefined
  #held: Set<RecordId> | undefined
  #local: LocalRows | undefined
  /** Changes that were delivered during a run; undefined: too many, or not all. */
  #missed: Change[] | undefined

  constructor(plan: QueryPlan, starts: StartPositions) {
    this.plan = plan
    this.#conditionSize = conditionSize(plan)
    this.#starts = starts
    this.#local = plan.local && new LocalRows(plan.local)
  }

  /** The memory that the query takes, in rows. */
  get size(): number {
    return this.#rows.length + this.#subscriberCount * this.#conditionSize
  }

  get isUnused(): boolean {
    return this.#subscriberCount === 0
  }

  get #subscriberCount(): number {
    return this.#subscribers.size + (this.#joining?.size ?? 0) + (this.#served?.size ?? 0) + (this.#waiting?.size ?? 0)
  }

  *everySubscriber(): Generator<QuerySubscriber> {
    if (this.#joining) yield* this.#joining
    if (this.#served) yield* this.#served
    if (this.#waiting) yield* this.#waiting
    yield* this.#subscribers
  }

  join(subscriber: QuerySubscriber): void {
    this.#joining ??= new Set()
    this.#joining.add(subscriber)
  }

  leave(subscriber: QuerySubscriber): void {
    this.#joining?.delete(subscriber)
    this.#subscribers.delete(subscriber)
    this.#served?.delete(subscriber)
    this.#waiting?.delete(subscriber)
  }

  /**
   * Applies a change, or decides that the query must be run. During a run the change is buffered, and is applied when the run has
   * ended.
   */
  react(change: Change, turn: number, matched?: Matched): Reaction {
    if (this.isQueued || this.isRunning) {
      if (!this.#local && !this.plan.isConcernedBy(change, () => true)) return 'none'
      this.unsettledSince = Math.min(this.unsettledSince, turn)
      if (this.isRunning && this.#missed && (hasLongTexts(change) || this.#missed.push(change) > keptChanges))
        this.#missed = undefined
      return 'none'
    }
    if (this.#starts.hasRead(this.#start, change)) return 'none'
    const effect = this.#local ? this.#local.apply(change, matched) : this.#isConcerned(change) ? 'unknown' : 'none'
    if (effect === 'unknown') this.unsettledSince = Math.min(this.unsettledSince, turn)
    return effect === 'unknown' ? 'run' : effect === 'changed' ? 'touched' : 'none'
  }

  /** Matches a change with long texts for `react`, in several turns of the event loop. Undefined if that is not needed. */
  matchInTurns(change: Change): Promise<Matched> | undefined {
    return this.isQueued || this.isRunning ? undefined : this.#local?.matchInTurns(change)
  }

  #isConcerned(change: Change): boolean {
    return this.plan.isConcernedBy(change, (id) => {
      this.#held ??= new Set(this.#rows.map((row) => row.id))
      return this.#held.has(id)
    })
  }

  /** Computes the difference of the changes since the last one. */
  prepareFlush(): void {
    const local = this.#local
    if (!local || this.isQueued || this.isRunning) return
    const texts = local.take()
    const rows = [...local.rows]
    this.#prepared = { rows, body: this.#bodyOf(rows, (index) => texts.get(rows[index]?.id as RecordId) ?? '') }
  }

  /** Sends it. False: the next run sends it. */
  flush(position: Position): boolean {
    if (!this.#prepared) this.prepareFlush()
    const prepared = this.#prepared
    this.#prepared = undefined
    if (this.isQueued || this.isRunning) return false
    if (prepared) this.#send(position, prepared, undefined)
    return true
  }

  begin(): void {
    this.isQueued = false
    this.isRunning = true
    this.#missed = []
    // Those of a run that has failed are served by this one.
    if (this.#served && this.#joining) for (const subscriber of this.#joining) this.#served.add(subscriber)
    else this.#served ??= this.#joining
    this.#joining = undefined
  }

  /** The rows of a run. `serve` gives them to those that have waited. */
  finish(result: QueryResult): void {
    const { position, rows, total, hasMore } = result
    this.isRunning = false
    this.#start = this.#starts.at(position)
    if (this.#local && !this.#local.reset(rows, hasMore)) this.#local = undefined
    this.#prepared = undefined
    this.#send(position, { rows, body: this.#bodyOf(rows, (index) => result.texts[index] as string) }, total)
    this.#serving = result
    if (!this.#waiting) this.#waiting = this.#served
    else for (const subscriber of this.#served ?? none) this.#waiting.add(subscriber)
    this.#served = undefined
    this.unsettledSince = Number.POSITIVE_INFINITY
  }

  /**
   * Gives the rows of the last run to those that wait for them, as many as there is time for in this turn of the event loop. False: some
   * are left.
   */
  serve(): boolean {
    const result = this.#serving
    if (this.isStale || !result) return true
    // One that receives its rows may leave, and others with it. Another run may end meanwhile.
    for (const subscriber of this.#waiting ?? none) {
      this.#waiting?.delete(subscriber)
      this.#subscribers.add(subscriber)
      subscriber.onRows(result)
      if (eventLoopTurn.isUsed || this.#serving !== result) break
    }
    if (this.#waiting && this.#waiting.size > 0) return false
    this.#waiting = this.#serving = undefined
    return true
  }

  /** Whether the rows that some wait for are no longer those of the query: another run serves them. */
  get isStale(): boolean {
    return this.#waiting !== undefined && this.#waiting.size > 0 && this.#rows !== this.#serving?.rows
  }

  /**
   * Applies the changes that were delivered during the run. Undefined: the query must be run again, because they are not known, or
   * another run takes less time.
   */
  reactToMissed(turn: number): readonly Reaction[] | undefined {
    if (!this.#missed) return undefined
    const begunAt = performance.now()
    const reactions: Reaction[] = []
    for (const change of this.#missed) {
      if (performance.now() - begunAt > longestReactionMs) return undefined
      reactions.push(this.react(change, turn))
    }
    return reactions
  }

  /**
   * After a gap, every subscriber receives the rows of a new run. The result of a run in progress may lack changes of the gap.
   */
  restart(): void {
    this.#prepared = undefined
    this.#serving = undefined
    if (this.isRunning) this.#missed = undefined
    for (const subscriber of this.#subscribers) {
      this.join(subscriber)
      subscriber.onGap()
    }
    this.#subscribers.clear()
  }

  /** Empty where there is no difference, or no subscriber. */
  #bodyOf(rows: readonly HeldRow[], textAt: (index: number) => string): string {
    if (this.#subscribers.size === 0) return ''
    const before = this.#rows
    const difference = differenceOf(before, rows, (earlier, later) => before[earlier]?.digest !== rows[later]?.digest)
    return difference ? encodeDifference(difference, rows, textAt) : ''
  }

  #send(position: Position, { rows, body }: Difference, total: number | undefined): void {
    const isRecounted = total !== this.#total
    this.#rows = rows
    this.#held = undefined
    this.#total = total
    if (body === '' && !isRecounted) return
    const counted = isRecounted ? `,"total":${total}` : ''
    for (const subscriber of [...this.#subscribers]) subscriber.onDifference(position, body + counted)
  }
}

const none: ReadonlySet<QuerySubscriber> = new Set()

export const hasLongTexts = ({ before, after }: Change): boolean => hasLongText(before) || hasLongText(after)
