import type { Access } from '../../access/policy.ts'
import { readRulesOf } from '../../access/read-rules.ts'
import type { Model } from '../../model/model.ts'
import type { Position } from '../../protocol/change.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { EncodedJson, Json, JsonObject } from '../../protocol/json.ts'
import type { ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import type { Requester } from '../../protocol/requester.ts'
import type { ReadOptions } from '../../storage/store.ts'
import { cancellable } from '../../support/cancellable.ts'
import type { Clock } from '../../support/clock.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { Limits } from '../../support/limits.ts'
import { yieldToEventLoop } from '../../support/yield-to-event-loop.ts'
import { encodeInParts } from '../dispatch/encode-records.ts'
import type { LooseRecords } from '../in-process/records.ts'
import { sizeOf } from '../live/event-stream-format.ts'
import { keepAlive, keepAliveMs } from '../live/keep-alive.ts'
import type { LooseLiveEvent, LooseLiveEvents } from '../live/live-records.ts'
import type { StreamSlots } from '../live/stream-slots.ts'
import { eventMessage, insertMessage, mustRefetch, upToDate } from './shape-messages.ts'
import { newHandle, offsetText, readShapeRequest, type ShapeOffset, type ShapeRequest } from './shape-request.ts'

/** A long poll without changes is answered after this time. */
const pollMs = 20_000
/** The most messages of one answer, which is also limited by `maxQueuedBytes`. Further messages are in the next answer. */
const maxMessages = 1_000
/** The most records in one answer: they are decoded in one turn of the event loop. */
const maxPageSize = 200
/**
 * If a page exceeds the size of an answer, it is read again with this fraction of its records. Each page after it has twice as
 * many.
 */
const shrinkFactor = 8

export interface ShapeOptions {
  readonly models: ReadonlyMap<string, Model>
  /** The records of the models on behalf of a requester, under its rules. */
  readonly recordsFor: (requester: Requester, client: ReadOptions) => ReadonlyMap<string, LooseRecords>
  readonly head: () => Promise<Position> | Position
  readonly limits: Pick<Limits, 'maxLimit' | 'maxAnswerBytes' | 'maxQueuedBytes'>
  readonly slots: StreamSlots
  readonly clock: Clock
  /** Hashed with the rules into the handle, so that rules cannot be guessed from it. */
  readonly secret: string
}

/** The requester, and its rules; undefined: no rules restrict it. */
interface AuthorizedRequester {
  readonly requester: Requester
  readonly access: Access | undefined
}

/** What a request concerns. */
interface Shape extends ShapeRequest {
  readonly records: LooseRecords
  readonly key: string
  readonly requester: Requester
}

/**
 * Electric's shape protocol: the records that match a condition on their own attributes, page by page, and then their
 * changes, by long polling or as a stream. Records that change while the pages are read are sent again as changes.
 */
export class ShapeEndpoint {
  readonly #options: ShapeOptions
  /** Ends the requests that wait for changes. */
  readonly #waiting = new Set<() => void>()
  /** Of the next page of each table. */
  readonly #pageSizes = new Map<string, number>()
  #isStopped = false

  constructor(options: ShapeOptions) {
    this.#options = options
  }

  async respond(asked: ServiceRequest, { requester, access }: AuthorizedRequester): Promise<ServiceResponse> {
    if (this.#isStopped) throw new ServiceError('E_UNAVAILABLE', 'The service is stopping')
    const { query, peer } = asked
    const { signal } = peer ?? asked
    const { models, secret, recordsFor } = this.#options
    const request = readShapeRequest(query, (table) => rightsOf(models.get(table), access, secret))
    if (peer && request.isStream) throw new ServiceError('E_BAD_REQUEST', 'A socket cannot be answered with a stream')
    const records = recordsFor(requester, { signal }).get(request.table)
    const model = models.get(request.table)
    if (!records || !model) throw new ServiceError('E_BAD_REQUEST', `There is no table "${request.table}"`)
    const shape = { ...request, records, key: model.primaryKey.name, requester }
    const { offset, handle } = request
    if (typeof offset === 'object' && !handle?.startsWith(request.shape)) return refetch(shape)
    if (offset === 'now') {
      await validateShape(shape)
      return answer(shape, [upToDate()], { position: await this.#options.head() }, true)
    }
    if (offset === 'start') return this.#page(shape, { position: await this.#options.head() })
    if (offset.cursor !== undefined) return this.#page(shape, offset)
    return this.#changes(shape, offset.position, signal)
  }

  /** The service stops: requests that wait are answered. */
  stop(): void {
    this.#isStopped = true
    for (const end of [...this.#waiting]) end()
  }

  async #page(shape: Shape, { position, cursor }: ShapeOffset): Promise<ServiceResponse> {
    const { records, table, where, columns, key } = shape
    if (cursor === undefined) await validateShape(shape)
    const { maxAnswerBytes, maxLimit } = this.#options.limits
    const most = Math.min(maxLimit, maxPageSize)
    for (let limit = this.#pageSizes.get(table) ?? most; ; limit = Math.ceil(limit / shrinkFactor)) {
      try {
        const { data, next } = await records.find({
          where,
          limit,
          sort: key,
          ...(columns && { select: [...columns] }),
          ...(cursor !== undefined && { cursor }),
        })
        const body = await encodeInParts(pageText(data, next === null, shape), maxAnswerBytes)
        this.#pageSizes.set(table, Math.min(most, limit * 2))
        return next === null
          ? answer(shape, body, { position }, true)
          : answer(shape, body, { position, cursor: next }, false)
      } catch (error) {
        if (limit === 1 || !(error instanceof ServiceError) || error.details.limit !== 'maxAnswerBytes') throw error
      }
    }
  }

  async #changes(shape: Shape, since: Position, signal: AbortSignal | undefined): Promise<ServiceResponse> {
    const slot = this.#options.slots.take()
    const { requester } = shape
    let events: LooseLiveEvents
    try {
      events = shape.records.live({ where: shape.where, since })
    } catch (error) {
      slot[Symbol.dispose]()
      throw error
    }
    let isEnded = false
    const end = () => {
      if (isEnded) return
      isEnded = true
      this.#waiting.delete(end)
      slot[Symbol.dispose]()
      signal?.removeEventListener('abort', end)
      void events.return?.()
    }
    this.#waiting.add(end)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
    try {
      const { value: first } = await events.next()
      if (first?.verb === 'reset') {
        end()
        return refetch(shape)
      }
      if (shape.isLive && shape.isStream) {
        const headers = { ...headersOf(shape, { position: since }), 'Content-Type': 'text/event-stream; charset=utf-8' }
        const expiry = keepAlive(requester, this.#options.clock, { heartbeat() {}, stop: end })
        const stop = () => {
          expiry[Symbol.dispose]()
          end()
        }
        return { status: 200, headers, stream: cancellable(streamed(shape, events, since, stop), stop) }
      }
      const found = await collect(shape, events, since, this.#options.limits.maxQueuedBytes)
      end()
      if (found === 'reset') return refetch(shape)
      const body = await encodeInParts(listText([...found.messages, upToDate()]), Number.POSITIVE_INFINITY)
      return answer(shape, body, found, true)
    } catch (error) {
      end()
      throw error
    }
  }
}

/**
 * A text that changes with the rules of the requester. Changes of rules are not in the change log, so a client has to start again
 * after one.
 */
const rightsOf = (model: Model | undefined, access: Access | undefined, secret: string): string =>
  model && access ? `${secret} ${access.views.key} ${readRulesOf([model], access).key}` : ''

/**
 * Waits for the first changes and returns them with those that follow at once, in turns of the event loop. The position is that
 * of a complete operation.
 */
async function collect(
  shape: Shape,
  events: LooseLiveEvents,
  since: Position,
  maxBytes: number,
): Promise<{ readonly messages: readonly JsonObject[]; readonly position: Position } | 'reset'> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<undefined>((resolve) => {
    // A request that does not wait gives the log the time of one read.
    timer = setTimeout(() => resolve(undefined), shape.isLive ? pollMs : 50)
  })
  const messages: JsonObject[] = []
  let [complete, position, bytes] = [0, since, 0]
  let isWithinOperation = false
  try {
    while ((messages.length < maxMessages && bytes < maxBytes) || complete === 0) {
      const waiting = complete > 0 ? quiet() : timeout
      const next = await (isWithinOperation ? events.next() : Promise.race([events.next(), waiting]))
      const event = next?.value as LooseLiveEvent | undefined
      if (event?.verb === 'reset') return 'reset'
      if (!event || !('id' in event)) break
      const message = eventMessage(event, shape.key, shape)
      if (message) messages.push(message)
      bytes += sizeOf(event)
      isWithinOperation = event.position === undefined
      if (event.position !== undefined) [complete, position] = [messages.length, event.position]
      if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    }
  } finally {
    clearTimeout(timer)
  }
  return { messages: messages.slice(0, complete), position }
}

/** Throws for unknown columns, and for a condition that cannot be matched with changes, before anything is sent. */
async function validateShape({ records, where, columns }: Shape): Promise<void> {
  await records.live({ where }).return?.()
  await records.find({ where, limit: 0, ...(columns && { select: [...columns] }) })
}

async function quiet(): Promise<undefined> {
  await yieldToEventLoop()
  await yieldToEventLoop()
}

async function* streamed(
  shape: Shape,
  events: LooseLiveEvents,
  since: Position,
  end: () => void,
): AsyncGenerator<string, undefined, undefined> {
  try {
    yield sent(upToDate(since))
    for (let next = events.next(); ; ) {
      let timer: ReturnType<typeof setTimeout> | undefined
      const silence = new Promise<undefined>((resolve) => {
        timer = setTimeout(() => resolve(undefined), keepAliveMs)
      })
      const result = await Promise.race([next, silence])
      clearTimeout(timer)
      if (!result) {
        yield ': keep-alive\n\n'
        continue
      }
      next = events.next()
      const event = result.value
      // The stream ends. The client requests its last offset again, and receives 409 if that is no longer in the log.
      if (!event || !('id' in event)) return
      const message = eventMessage(event, shape.key, shape)
      yield (message ? sent(message) : '') + (event.position === undefined ? '' : sent(upToDate(event.position)))
    }
  } finally {
    end()
  }
}

const sent = (message: JsonObject): string => `data: ${JSON.stringify(message)}\n\n`

function* pageText(data: readonly JsonObject[], isLast: boolean, shape: Shape): Iterable<string> {
  let text = '['
  for (const record of data) {
    yield text + JSON.stringify(insertMessage(record, shape.key, shape))
    text = ','
  }
  yield isLast ? `${text}${JSON.stringify(upToDate())}]` : ']'
}

function* listText(messages: readonly JsonObject[]): Iterable<string> {
  for (const [index, message] of messages.entries()) yield `${index === 0 ? '[' : ','}${JSON.stringify(message)}`
  yield ']'
}

function answer(shape: Shape, body: Json | EncodedJson, offset: ShapeOffset, isUpToDate: boolean): ServiceResponse {
  const headers = { ...headersOf(shape, offset), ...(isUpToDate && { 'electric-up-to-date': '' }) }
  return { status: 200, headers, body }
}

const headersOf = ({ shape, handle }: Shape, offset: ShapeOffset): Readonly<Record<string, string>> => ({
  'electric-handle': handle?.startsWith(shape) ? handle : newHandle(shape),
  'electric-offset': offsetText(offset),
  // Values are JSON, so no column needs a parser.
  'electric-schema': '{}',
  'electric-cursor': String(Date.now()),
  'Cache-Control': 'no-store',
})

/** The position is no longer in the log, or of another shape: the client starts again. Never to be kept by a cache. */
const refetch = ({ shape }: Shape): ServiceResponse => ({
  status: 409,
  headers: { 'electric-handle': newHandle(shape), 'Cache-Control': 'no-store' },
  body: [mustRefetch],
})
