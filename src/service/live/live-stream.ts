import type { Position } from '../../protocol/change.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { LiveClient, LiveQueries } from '../../realtime/queries/live-queries.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { Limits } from '../../support/limits.ts'
import type { WaitingBytes, WaitingClient } from '../../support/waiting-bytes.ts'
import { FrameQueue } from './frame-queue.ts'
import { failedFrame, type LiveFrame } from './live-frame.ts'
import type { MissedChanges } from './missed-changes.ts'
import { encodeResumePosition } from './resume-position.ts'
import { type PlannedQuery, type QueryOwner, StreamQuery } from './stream-query.ts'

/** How many added queries of a stream are read at once. */
const maxJoining = 4
/** A consumer with more unread operations than this is disconnected. */
const maxPendingOperations = 10_000
/** The memory of an operation that is not reported yet; of fewer than `countedOperations` it is not counted. */
const operationBytes = 160
const countedOperations = 100

export interface LiveStreamOptions {
  readonly id: string
  /** The key of its requester. */
  readonly requester: string | undefined
  /** The socket that it belongs to; undefined for an event stream. */
  readonly peer: string | undefined
  readonly queries: LiveQueries
  readonly missedSince: (position: Position) => MissedChanges
  readonly limits: Limits
  readonly waiting: WaitingBytes
  readonly onError: (error: unknown) => void
  /** Called once. */
  readonly onEnd: () => void
}

/**
 * The live queries of one client. Their frames wait in one queue; when it is too long, it is emptied, and the queries
 * whose frames were dropped are read again once the client has caught up.
 */
export class LiveStream implements LiveClient, QueryOwner {
  readonly id: string
  readonly requester: string | undefined
  readonly peer: string | undefined
  readonly #options: LiveStreamOptions
  readonly #queries = new Map<string, StreamQuery>()
  readonly #frames: FrameQueue
  /** Queries to be read as soon as the queue of frames is short enough. */
  #toJoin: StreamQuery[] = []
  readonly #joining = new Set<StreamQuery>()
  /** Operations that the feed has passed, but which are not reported to the client yet, in the order of their turns. */
  #passed: { readonly token: string; readonly turn: number }[] = []
  /** Their memory, which counts among what waits for all clients. */
  #passedBytes = 0
  readonly #passedClient: WaitingClient
  #connection: Disposable | undefined
  /** Whether some query may hold outdated rows. */
  #mayHaveReset = false
  /** The first queries were added. */
  #isOpen = false
  #isEnded = false

  constructor(options: LiveStreamOptions) {
    this.id = options.id
    this.requester = options.requester
    this.peer = options.peer
    this.#options = options
    this.#frames = new FrameQueue(options.waiting, () => this.#overflow())
    this.#passedClient = options.waiting.add(() => this.end())
  }

  async connect(): Promise<void> {
    const connection = await this.#options.queries.connect(this)
    if (this.#isEnded) connection[Symbol.dispose]()
    else this.#connection = connection
  }

  /** Throws before anything is changed. Nothing happens to a stream that has ended, as it may while it connects. */
  change(added: readonly PlannedQuery[], removed: readonly string[]): void {
    if (this.#isEnded) return
    const { maxLiveQueries } = this.#options.limits
    const remaining = new Set(this.#queries.keys())
    for (const name of removed) remaining.delete(name)
    const taken = added.find(({ name }) => remaining.has(name))
    if (taken) throw new ServiceError('E_BAD_REQUEST', `The stream has a query ${JSON.stringify(taken.name)} already`)
    const above = added[maxLiveQueries - remaining.size]
    if (above)
      throw new ServiceError('E_BAD_REQUEST', `A stream has at most ${maxLiveQueries} queries`, {
        limit: 'maxLiveQueries',
        query: above.name,
      })
    this.#isOpen = true
    for (const name of removed) this.#remove(name)
    for (const planned of added) {
      const query = new StreamQuery(planned, this)
      this.#queries.set(query.name, query)
      try {
        this.#options.queries.assertRoom()
        query.unshared = this.#options.queries.hold(query.size)
        this.#toJoin.push(query)
      } catch (error) {
        this.onFailed(query, error)
      }
    }
    this.#joinNext()
  }

  get hasFrames(): boolean {
    return !this.#frames.isEmpty
  }

  /** Resolves with the next frame, and with undefined at the end. */
  async take(): Promise<LiveFrame | undefined> {
    // Frames may have been dropped since the last one was taken.
    if (this.#frames.isEmpty) this.#onRead()
    const frame = await this.#frames.take()
    // One change may wake thousands of streams in one turn, and rows take time to encode.
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    if (this.#frames.isEmpty) this.#onRead()
    else this.#joinNext()
    return frame
  }

  /** The client has read all that waited. */
  #onRead(): void {
    if (this.#mayHaveReset) this.#readAgain()
    this.#report(undefined)
    this.#joinNext()
  }

  /** Something is sent now and then, so that proxies keep the connection. */
  heartbeat(): void {
    if (!this.#frames.isEmpty) return
    const position = this.#passedPosition(this.#oldest)
    if (position === undefined) this.send({ event: 'heartbeat' })
    else this.send({ event: 'seen', position, operations: [] })
  }

  /** Reports operations that were committed before this is called, as soon as all queries have passed them. */
  await(tokens: readonly string[]): void {
    if (tokens.length === 0) return
    this.#options.queries.whenCaughtUp((turn) => this.#pass(tokens, turn))
  }

  /** The client reconnects with its positions. */
  stop(): void {
    if (this.#isEnded) return
    this.send({ event: 'restart' })
    this.end()
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#toJoin = []
    for (const name of [...this.#queries.keys()]) this.#remove(name)
    this.#connection?.[Symbol.dispose]()
    this.#passed = []
    this.#countPassed()
    this.#frames.end()
    this.#options.onEnd()
  }

  send(frame: LiveFrame): void {
    if (this.#isEnded) return
    const isAlone = this.#frames.isEmpty
    this.#frames.add(frame)
    if (!isAlone && this.#frames.pushedBytes > this.#options.limits.maxQueuedBytes) this.#overflow()
  }

  onJoined(query: StreamQuery): void {
    this.#joining.delete(query)
    this.#report(undefined)
    this.#joinNext()
  }

  onFailed(query: StreamQuery, error: unknown): void {
    if (this.#queries.get(query.name) !== query) return
    this.#remove(query.name)
    this.send(failedFrame(query.name, error, this.#options.onError))
    this.#report(undefined)
    this.#joinNext()
  }

  onReset(): void {
    this.#mayHaveReset = true
  }

  missedSince(position: Position): MissedChanges {
    return this.#options.missedSince(position)
  }

  onOperations(tokens: readonly string[], turn: number, position: Position): void {
    this.#pass(tokens, turn, position)
  }

  #pass(tokens: readonly string[], turn: number, position?: Position): void {
    if (this.#isEnded) return
    for (const token of tokens) this.#passed.push({ token, turn })
    this.#countPassed()
    if (this.#passed.length > maxPendingOperations) this.end()
    else this.#report(position)
  }

  #countPassed(): void {
    const { length } = this.#passed
    const bytes = length < countedOperations ? 0 : length * operationBytes
    if (bytes !== this.#passedBytes) this.#passedClient.set(bytes)
    this.#passedBytes = bytes
  }

  onSettled(position: Position | undefined): void {
    this.#report(position)
  }

  /** Reports the operations whose changes all queries have sent: with the last difference, if it still waits. */
  #report(position: Position | undefined): void {
    if (this.#passed.length === 0) return
    const oldest = this.#oldest
    const firstKept = this.#passed.findIndex(({ turn }) => turn >= oldest)
    if (firstKept === 0) return
    const count = firstKept === -1 ? this.#passed.length : firstKept
    const operations = this.#passed.splice(0, count).map(({ token }) => token)
    this.#countPassed()
    if (!this.#frames.report(operations))
      this.send({ event: 'seen', position: this.#passedPosition(oldest, position), operations })
    else if (this.#frames.pushedBytes > this.#options.limits.maxQueuedBytes) this.#overflow()
  }

  /** The position that the client resumes all of its queries from. Undefined while some query lacks an earlier change. */
  #passedPosition(oldest: number, position = this.#options.queries.position): Position | undefined {
    if (position === undefined || oldest < Number.POSITIVE_INFINITY) return undefined
    const digests = [...this.#queries.values()].map(({ digest }) => digest)
    return encodeResumePosition(position, digests)
  }

  /**
   * The first turn whose changes some query may not have sent; 0 while a query is being read, or before the first ones are added,
   * because they may resume with outdated rows.
   */
  get #oldest(): number {
    if (!this.#isOpen) return 0
    if (this.#joining.size + this.#toJoin.length > 0) return 0
    if (this.#options.queries.isSettled && !this.#mayHaveReset) return Number.POSITIVE_INFINITY
    let oldest = Number.POSITIVE_INFINITY
    for (const query of this.#queries.values()) oldest = Math.min(oldest, query.unsettledSince)
    this.#mayHaveReset = oldest === 0
    return oldest
  }

  #joinNext(): void {
    const hasRoom = (): boolean => this.#frames.bytes < this.#options.limits.maxQueuedBytes / 2
    while (!this.#isEnded && this.#toJoin.length > 0 && this.#joining.size < maxJoining && hasRoom()) {
      const query = this.#toJoin.shift() as StreamQuery
      this.#joining.add(query)
      this.#countShared(query)
      try {
        // Its rows may have been sent when this returns.
        this.#options.queries.subscribe(query.plan, query, (shared) => {
          query.shared = shared
        })
      } catch (error) {
        this.onFailed(query, error)
      }
    }
  }

  #remove(name: string): void {
    const query = this.#queries.get(name)
    if (!query) return
    this.#queries.delete(name)
    this.#leave(query)
    this.#countShared(query)
    query.end()
  }

  /** From now on, its memory is counted with the shared query, or it is given back. */
  #countShared(query: StreamQuery): void {
    query.unshared?.[Symbol.dispose]()
    query.unshared = undefined
  }

  #leave(query: StreamQuery): void {
    if (query.shared) this.#options.queries.unsubscribe(query.shared, query)
    query.shared = undefined
    this.#joining.delete(query)
    this.#toJoin = this.#toJoin.filter((one) => one !== query)
  }

  /** Operations that were to be reported with dropped frames are reported later. */
  #overflow(): void {
    const dropped = this.#frames.clear()
    const names = new Set(dropped.map(({ query }) => query))
    for (const query of this.#queries.values()) {
      if (!names.has(query.name)) continue
      this.#leave(query)
      query.unshared ??= this.#options.queries.hold(query.size)
      query.end()
      query.mustReset = true
      this.#mayHaveReset = true
    }
    const unreported: string[] = []
    for (const frame of dropped) {
      if (frame.event === 'open' || frame.event === 'failed' || frame.event === 'restart') this.#frames.add(frame)
      else for (const token of frame.operations ?? []) unreported.push(token)
    }
    this.#passed = [...unreported.map((token) => ({ token, turn: 0 })), ...this.#passed]
    this.#countPassed()
    if (this.#passed.length > maxPendingOperations) this.end()
  }

  /** Adds the queries whose frames were dropped. */
  #readAgain(): void {
    for (const query of this.#queries.values()) {
      const isIdle = !query.shared && !this.#joining.has(query) && !this.#toJoin.includes(query)
      if (query.mustReset && isIdle) this.#toJoin.push(query)
    }
  }
}
