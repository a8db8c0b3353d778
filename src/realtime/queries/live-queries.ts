import type { Position } from '../../protocol/change.ts'
import { ServiceError } from '../../protocol/errors.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'
import type { MaybePromise } from '../../support/maybe-promise.ts'
import type { ChangeFeed, ChangeFeedListener, ChangeOperation } from '../change-feed.ts'
import { SharedListening } from '../shared-listening.ts'
import { type PositionOrder, StartPositions } from '../start-position.ts'
import { hasLongTexts, LiveQuery, type QuerySubscriber } from './live-query.ts'
import { type OperationClient, OperationReports } from './operation-reports.ts'
import { QueryIndex } from './query-index.ts'
import type { QueryPlan, QueryResult } from './query-plan.ts'
import { RunQueue } from './run-queue.ts'

/** A consumer of several queries: a stream. */
export interface LiveClient extends OperationClient {
  /** Called when a query of the client has caught up, and when the position of the feed has moved. */
  onSettled(position: Position | undefined): void
}

export interface LiveQueriesOptions {
  readonly feed: ChangeFeed
  readonly order: PositionOrder
  /** Queries that run at once. */
  readonly maxRuns: number
  /** Limit of memory over all queries: their rows, plus their conditions counted in rows. */
  readonly maxRows: number
  /** The name of an operation for clients; by default the operation itself. */
  readonly nameOf?: (operation: string) => string
}

/**
 * A query that fails with status 503 is run again, at most `maxTries` times in all. The delay is `retryMs` times the number of
 * tries.
 */
const retryMs = 500
const maxTries = 6

/**
 * The live queries of a process. A change finds the queries that it may concern; at the end of each turn of the feed, those
 * whose rows follow from images are sent their differences, and the others are run again, once for all subscribers.
 */
export class LiveQueries implements ChangeFeedListener {
  readonly #options: LiveQueriesOptions
  readonly #starts: StartPositions
  readonly #runs: RunQueue
  readonly #index = new QueryIndex()
  readonly #queries = new Map<string, LiveQuery>()
  readonly #reports: OperationReports<LiveClient>
  readonly #touched = new Set<LiveQuery>()
  /** Those whose held rows may lack a change. */
  readonly #unsettled = new Set<LiveQuery>()
  readonly #listening: SharedListening
  #position: Position | undefined
  #isInTurn = false
  #turn = 1
  #rows = 0

  constructor(options: LiveQueriesOptions) {
    this.#options = options
    this.#reports = new OperationReports(options.nameOf)
    this.#listening = new SharedListening(options.feed, this)
    this.#starts = new StartPositions(options.order, (callback) => options.feed.whenCaughtUp(callback))
    this.#runs = new RunQueue(options.maxRuns)
  }

  /** Resolves when the operations that are committed from now on will be reported. */
  async connect(client: LiveClient): Promise<Disposable> {
    this.#reports.add(client)
    const end = (): void => this.#disconnect(client)
    try {
      await this.#listening.begin()
    } catch (error) {
      end()
      throw error
    }
    return { [Symbol.dispose]: end }
  }

  #disconnect(client: LiveClient): void {
    if (!this.#reports.remove(client) || this.#reports.hasClients) return
    this.#listening.end()
    this.#position = undefined
  }

  /**
   * The client is connected. The subscriber receives the rows of a read that begins after this; `onSubscribed` is called
   * before that.
   */
  subscribe(plan: QueryPlan, subscriber: QuerySubscriber, onSubscribed: (query: LiveQuery) => void): void {
    this.assertRoom()
    const query = getOrInsertComputed(this.#queries, plan.key, () => {
      const made = new LiveQuery(plan, this.#starts)
      this.#index.add(made)
      return made
    })
    query.join(subscriber)
    this.#count(query)
    onSubscribed(query)
    this.#queue(query)
    this.#runs.start()
  }

  /** Throws E_UNAVAILABLE where all live queries take more memory than they may. */
  assertRoom(): void {
    if (this.#rows > this.#options.maxRows) throw tooManyRows(this.#options.maxRows)
  }

  /** Counts what a client keeps of a query that it is not subscribed to, in rows, until the result is disposed of. */
  hold(rows: number): Disposable {
    this.#rows += rows
    return {
      [Symbol.dispose]: () => {
        this.#rows -= rows
      },
    }
  }

  unsubscribe(query: LiveQuery, subscriber: QuerySubscriber): void {
    if (!this.#isCurrent(query)) return
    query.leave(subscriber)
    this.#count(query)
    if (query.isUnused) this.#remove(query)
  }

  /** Calls back with the last turn, when everything that is committed by now has been passed. */
  whenCaughtUp(callback: (turn: number) => void): void {
    this.#options.feed.whenCaughtUp(() => callback(this.#turn - 1), true)
  }

  /** Operations of all models are reported. */
  wants(): boolean {
    return true
  }

  /** In several turns of the event loop: each change is compared with many conditions. */
  async onOperation({ changes }: ChangeOperation): Promise<void> {
    this.#isInTurn = true
    for (const change of changes) {
      const isLong = hasLongTexts(change)
      for (const query of this.#index.candidates(change)) {
        if (eventLoopTurn.isUsed) await eventLoopTurn.next()
        const matched = isLong ? await query.matchInTurns(change) : undefined
        // Its last subscriber may have left meanwhile.
        if (!this.#isCurrent(query)) continue
        const reaction = query.react(change, this.#turn, matched)
        this.#noteSettled(query)
        if (reaction === 'touched') this.#touched.add(query)
        else if (reaction === 'run') this.#queue(query)
      }
    }
    const [{ operation, requester } = {}] = changes
    if (operation !== undefined) this.#reports.note(operation, requester)
  }

  /**
   * The differences are computed in several turns of the event loop, and sent in several. `position` follows when all are sent:
   * that of a difference names its query alone.
   */
  async onPosition(position: Position): Promise<void> {
    this.#isInTurn = true
    for (const query of this.#touched) {
      if (eventLoopTurn.isUsed) await eventLoopTurn.next()
      if (this.#isCurrent(query)) query.prepareFlush()
    }
    const settled: LiveQuery[] = []
    for (const query of this.#touched) {
      if (eventLoopTurn.isUsed) await eventLoopTurn.next()
      this.#touched.delete(query)
      if (this.#flushOne(query, position)) settled.push(query)
    }
    if (!this.#reports.hasClients) return // the last one has left meanwhile
    this.#position = position
    this.#isInTurn = false
    const turn = this.#turn++
    this.#reportSettled(settled, position)
    const reported = this.#reports.report(turn, position)
    if (reported) await reported
    // Once for all changes of the turn.
    this.#runs.start()
  }

  onGap(): void {
    this.#isInTurn = false
    this.#touched.clear()
    for (const query of [...this.#queries.values()]) {
      query.restart()
      this.#queue(query)
    }
    this.#runs.start()
  }

  /** Everything up to here was passed; undefined while that is not known. */
  get position(): Position | undefined {
    return this.#position
  }

  /** False while the rows of some query lack a change that the feed has passed. */
  get isSettled(): boolean {
    return this.#unsettled.size === 0
  }

  #unsettle(query: LiveQuery, turn: number): void {
    query.unsettledSince = Math.min(query.unsettledSince, turn)
    this.#noteSettled(query)
  }

  #noteSettled(query: LiveQuery): void {
    if (query.unsettledSince < Number.POSITIVE_INFINITY) this.#unsettled.add(query)
    else if (this.#unsettled.size > 0) this.#unsettled.delete(query)
  }

  #flush(position: Position): void {
    const touched = [...this.#touched]
    this.#touched.clear()
    const settled = touched.filter((query) => this.#flushOne(query, position))
    this.#reportSettled(settled, position)
  }

  /** Whether it lacked changes until now. */
  #flushOne(query: LiveQuery, position: Position): boolean {
    // The last subscriber of one may leave while another is flushed.
    if (!this.#isCurrent(query)) return false
    const isSent = query.flush(position)
    this.#count(query)
    if (!isSent || query.unsettledSince === Number.POSITIVE_INFINITY) return false
    query.unsettledSince = Number.POSITIVE_INFINITY
    this.#noteSettled(query)
    return true
  }

  #reportSettled(settled: readonly LiveQuery[], position: Position): void {
    for (const query of settled) for (const client of this.#clientsOf(query)) client.onSettled(position)
  }

  #queue(query: LiveQuery, tries = 1): void {
    if (query.isQueued) return
    // The run sends the difference of this turn, too.
    if (this.#touched.has(query)) this.#unsettle(query, this.#turn)
    // Changes that are delivered during a run are evaluated when it has ended.
    query.isQueued = true
    if (query.isRunning) return
    const [first] = query.everySubscriber()
    query.queuedRun = { owner: first?.client ?? query, run: () => this.#run(query, tries) }
    this.#runs.add(query.queuedRun)
  }

  #run(query: LiveQuery, tries: number): MaybePromise<void> {
    query.queuedRun = undefined
    if (!this.#isCurrent(query)) return
    query.begin()
    try {
      const result = query.plan.run()
      if (!(result instanceof Promise)) return this.#finish(query, result)
      return result.then((found) => this.#finish(query, found)).catch((error) => this.#fail(query, error, tries))
    } catch (error) {
      return this.#fail(query, error, tries)
    }
  }

  #finish(query: LiveQuery, result: QueryResult): void {
    if (!this.#isCurrent(query)) return
    // Clients of a query that lacked nothing wait for nothing; one that joins it is settled by its rows.
    const clients = query.unsettledSince === Number.POSITIVE_INFINITY ? none : this.#clientsOf(query)
    const mustRepeat = query.isQueued
    query.isQueued = false
    const since = Math.min(query.unsettledSince, this.#turn)
    query.finish(result)
    this.#serve(query)
    const reactions = query.reactToMissed(since)
    const isTouched = reactions?.includes('touched')
    // The missed changes are from earlier turns: the query stays unsettled until their difference is sent, at the end of this
    // turn or by another run.
    if ((!reactions || isTouched) && this.#isCurrent(query)) this.#unsettle(query, since)
    else if (this.#isCurrent(query)) this.#noteSettled(query)
    if (isTouched) this.#touched.add(query)
    if (mustRepeat || !reactions || reactions.includes('run')) this.#queue(query)
    // Within a turn, the difference is sent when the turn ends.
    else if (!this.#isInTurn && this.#position !== undefined) this.#flush(this.#position)
    for (const client of clients) client.onSettled(this.#position)
    if (!this.#isInTurn) this.#runs.start()
  }

  /** In several turns of the event loop: thousands may have waited for the rows of one run. */
  #serve(query: LiveQuery): void {
    const isDone = query.serve()
    this.#count(query)
    if (isDone) return
    void eventLoopTurn.next().then(() => {
      if (!this.#isCurrent(query)) return
      if (!query.isStale) return this.#serve(query)
      // A run under way serves them.
      if (!query.isRunning) this.#queue(query)
      this.#runs.start()
    })
  }

  /** Runs the query again later if the error is temporary; otherwise its subscriptions end with the error. */
  #fail(query: LiveQuery, error: unknown, tries: number): void {
    query.isRunning = false
    query.isQueued = false
    const isTemporary = error instanceof ServiceError && error.status === 503
    if (isTemporary && tries < maxTries) {
      query.isQueued = true
      setTimeout(() => {
        query.isQueued = false
        if (!this.#isCurrent(query)) return
        this.#queue(query, tries + 1)
        this.#runs.start()
      }, retryMs * tries).unref()
      return
    }
    const subscribers = [...query.everySubscriber()]
    const clients = this.#clientsOf(query)
    this.#remove(query)
    for (const subscriber of subscribers) subscriber.onFailure(error)
    for (const client of clients) client.onSettled(this.#position)
  }

  /** To be called when its size may have changed. One that receives a difference may leave, which is counted by itself. */
  #count(query: LiveQuery): void {
    const size = this.#isCurrent(query) ? query.size : 0
    this.#rows += size - query.countedSize
    query.countedSize = size
  }

  #clientsOf(query: LiveQuery): ReadonlySet<LiveClient> {
    return new Set([...query.everySubscriber()].map(({ client }) => client as LiveClient))
  }

  #isCurrent(query: LiveQuery): boolean {
    return this.#queries.get(query.plan.key) === query
  }

  #remove(query: LiveQuery): void {
    if (!this.#isCurrent(query)) return
    this.#queries.delete(query.plan.key)
    this.#index.remove(query)
    this.#touched.delete(query)
    this.#unsettled.delete(query)
    // It would keep the condition until the runs before it have ended, and no limit counts it any longer.
    if (query.queuedRun) this.#runs.remove(query.queuedRun)
    this.#count(query)
  }
}

const none: ReadonlySet<LiveClient> = new Set()

const tooManyRows = (maxRows: number): ServiceError =>
  new ServiceError('E_UNAVAILABLE', `The live queries of this process hold ${maxRows} rows, which is the limit`, {
    limit: 'maxLiveRows',
    headers: { 'Retry-After': '10' },
  })
