import { randomBytes } from 'node:crypto'
import type { Models } from '../../model/model.ts'
import type { OperationServices } from '../../operation/operation.ts'
import type { Position } from '../../protocol/change.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Peer } from '../../protocol/event.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import type { LiveQueries } from '../../realtime/queries/live-queries.ts'
import type { ChangeLog } from '../../storage/change-log.ts'
import { eventLoopTurn, forEachInTurns } from '../../support/event-loop-turn.ts'
import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'
import { Lru } from '../../support/lru.ts'
import { andThen, type MaybePromise } from '../../support/maybe-promise.ts'
import type { Semaphore } from '../../support/semaphore.ts'
import type { WaitingBytes } from '../../support/waiting-bytes.ts'
import type { Authorization } from '../dispatch/authorize.ts'
import { keepAlive } from './keep-alive.ts'
import { type NamedQuery, readOperations, readQueries } from './live-request.ts'
import { LiveStream } from './live-stream.ts'
import { MissedChanges } from './missed-changes.ts'
import type { OperationTokens } from './operation-tokens.ts'
import { LiveQueryPlans } from './query-plan.ts'
import { queryDigest } from './resume-position.ts'
import type { PlannedQuery } from './stream-query.ts'
import type { StreamSlots } from './stream-slots.ts'

export interface LiveStreamsOptions {
  readonly queries: LiveQueries
  readonly log: ChangeLog
  /** Bounds how many clients read the log at once. */
  readonly reads: Semaphore
  readonly models: Models
  readonly services: OperationServices
  readonly tokens: OperationTokens
  readonly waiting: WaitingBytes
  readonly slots: StreamSlots
  readonly onError: (error: unknown) => void
}

/** A change of the queries of a stream. */
interface StreamChange {
  readonly add: readonly NamedQuery[]
  readonly remove: readonly string[]
  /** Committed before, and to be reported when the stream has passed them. */
  readonly operations: readonly string[]
}

/** Each has at most some ten thousand keys. */
const keptPositions = 8

/** The streams of live queries of this process, by their ids. */
export class LiveStreams {
  readonly #options: LiveStreamsOptions
  readonly #streams = new Map<string, LiveStream>()
  /** By position: the clients of a service that was restarted continue from the same one. */
  readonly #missed = new Lru<Position, MissedChanges>(keptPositions)
  /** The id of this process among those that share a port; it begins the ids of streams. */
  worker: string | undefined
  /** A socket has one stream. */
  readonly #ofPeer = new Map<string, LiveStream>()
  /** By socket: its last message, until it is handled. */
  readonly #ofSocket = new Map<string, Promise<unknown>>()
  readonly #plans: LiveQueryPlans
  #isStopped = false

  constructor(options: LiveStreamsOptions) {
    this.#options = options
    this.#plans = new LiveQueryPlans(options.services)
  }

  get services(): OperationServices {
    return this.#options.services
  }

  /**
   * A body with `queries` opens a stream; one with `stream` changes the queries of one and gives undefined. Throws a
   * ServiceError that names the query at fault, and then nothing is changed. The messages of a socket are handled in order.
   */
  handle(body: Json | undefined, authorization: Authorization, peer?: Peer): Promise<LiveStream | undefined> {
    const handle = () => this.#handle(body, authorization, peer)
    if (!peer) return handle()
    const handled = this.#ofSocket.get(peer.id)?.then(handle, handle) ?? handle()
    this.#ofSocket.set(peer.id, handled)
    const end = () => {
      if (this.#ofSocket.get(peer.id) === handled) this.#ofSocket.delete(peer.id)
    }
    handled.then(end, end)
    return handled
  }

  async #handle(body: Json | undefined, authorization: Authorization, peer?: Peer): Promise<LiveStream | undefined> {
    // Parsing a hundred queries takes a millisecond or more, and many requests may arrive at once.
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    if (!isJsonObject(body))
      throw new ServiceError('E_BAD_BODY', 'The body must be an object with "queries" or "stream"')
    const unknown = Object.keys(body).find(
      (name) => !['queries', 'stream', 'add', 'remove', 'operations'].includes(name),
    )
    if (unknown !== undefined) throw new ServiceError('E_BAD_BODY', `The body has no member "${unknown}"`)
    if ((body.stream === undefined) === (body.queries === undefined))
      throw new ServiceError('E_BAD_BODY', 'The body has either "queries", to open a stream, or the "stream" to change')
    if (body.stream !== undefined) return this.#change(body.stream, body, authorization, peer)
    if (body.add !== undefined || body.remove !== undefined)
      throw new ServiceError('E_BAD_BODY', '"add" and "remove" are for a stream that is open')
    const operations = readOperations(body.operations)
    const stream = await this.open(await this.#read(body.queries, authorization), authorization, peer)
    stream.await(operations)
    return stream
  }

  async open(queries: readonly NamedQuery[], authorization: Authorization, peer?: Peer): Promise<LiveStream> {
    const { services, slots, log, reads, ...shared } = this.#options
    const plans = await this.#plansOf(queries, authorization)
    if (this.#isStopped) throw new ServiceError('E_UNAVAILABLE', 'The service is stopping')
    const slot = slots.take()
    const stream = new LiveStream({
      ...shared,
      id: (this.worker === undefined ? '' : `${this.worker}.`) + randomBytes(18).toString('base64url'),
      requester: shared.tokens.keyOf(authorization.requester),
      peer: peer?.id,
      limits: services.limits,
      missedSince: (position) =>
        getOrInsertComputed(this.#missed, position, () => new MissedChanges(position, log, reads)),
      onEnd: () => {
        heartbeat[Symbol.dispose]()
        slot[Symbol.dispose]()
        this.#streams.delete(stream.id)
        if (peer && this.#ofPeer.get(peer.id) === stream) this.#ofPeer.delete(peer.id)
      },
    })
    const heartbeat = keepAlive(authorization.requester, services.clock, stream)
    // From now on, so that it is stopped with the others while it connects.
    this.#streams.set(stream.id, stream)
    try {
      await stream.connect()
      // Those that have waited for the same connection to the log go on one after another: each may have a hundred queries.
      await eventLoopTurn.next()
      stream.send({ event: 'open', body: `,"stream":${JSON.stringify(stream.id)}` })
      stream.change(plans, [])
    } catch (error) {
      stream.end()
      // What it connects to may be closed already; its client receives `restart`.
      if (!this.#isStopped) throw error
    }
    if (peer) this.#bind(stream, peer)
    return stream
  }

  #bind(stream: LiveStream, peer: Peer): void {
    this.#ofPeer.get(peer.id)?.end()
    this.#ofPeer.set(peer.id, stream)
  }

  async #change(id: Json, body: JsonObject, authorization: Authorization, peer?: Peer): Promise<undefined> {
    const stream = typeof id === 'string' ? this.#streams.get(id) : undefined
    const key = this.#options.tokens.keyOf(authorization.requester)
    if (!stream || stream.requester !== key || stream.peer !== peer?.id) throw noSuchStream(this.#ownerOf(id))
    const { add, remove, operations } = await this.#readChange(body, authorization)
    const plans = await this.#plansOf(add, authorization)
    if (this.#streams.get(stream.id) !== stream) throw noSuchStream(undefined) // it has ended meanwhile
    stream.change(plans, remove)
    stream.await(operations)
  }

  /** Undefined: the id names this process or none. */
  #ownerOf(id: Json): string | undefined {
    const worker = typeof id === 'string' ? /^(\d{1,9})\./.exec(id)?.[1] : undefined
    return this.worker === undefined || worker === this.worker ? undefined : worker
  }

  async #readChange(body: JsonObject, authorization: Authorization): Promise<StreamChange> {
    const { remove = [] } = body
    if (!Array.isArray(remove) || !remove.every((name) => typeof name === 'string'))
      throw new ServiceError('E_BAD_BODY', '"remove" is a list of names')
    return {
      add: await this.#read(body.add, authorization),
      remove: remove as readonly string[],
      operations: readOperations(body.operations),
    }
  }

  #read(raw: Json | undefined, authorization: Authorization): MaybePromise<readonly NamedQuery[]> {
    const { models, services } = this.#options
    return readQueries(raw, { authorization, models, services })
  }

  #plansOf(queries: readonly NamedQuery[], authorization: Authorization): MaybePromise<readonly PlannedQuery[]> {
    const { services } = this.#options
    const planned: PlannedQuery[] = []
    const add = ({ name, view, input, held }: NamedQuery): void => {
      const plan = this.#plans.of(input, view, authorization)
      planned.push({ name, plan, digest: queryDigest(name, plan, services.secret), held })
    }
    return andThen(forEachInTurns(queries, add), () => planned)
  }

  /** Every stream ends with `restart`. */
  stop(): void {
    this.#isStopped = true
    for (const stream of [...this.#streams.values()]) stream.stop()
  }
}

const noSuchStream = (worker: string | undefined): ServiceError =>
  new ServiceError(
    'E_NO_SUCH_STREAM',
    'There is no such stream: open a new one with all queries',
    worker === undefined ? {} : { worker },
  )
