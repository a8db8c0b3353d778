import { isMatchAll } from '../../criteria/criteria.ts'
import { isLarger } from '../../model/value-size.ts'
import { readFind } from '../../operation/find-input.ts'
import type { OperationServices } from '../../operation/operation.ts'
import { isFilter } from '../../operation/parameters.ts'
import { existingKey } from '../../operation/record-key.ts'
import type { Position, RecordId } from '../../protocol/change.ts'
import { ServiceError } from '../../protocol/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import { parseQueryString } from '../../protocol/query-string.ts'
import type { ServiceRequest, ServiceResponse, Streamed } from '../../protocol/request.ts'
import type { Requester } from '../../protocol/requester.ts'
import type { EventIterator, IteratorItem } from '../../realtime/delivery/event-iterator.ts'
import type { SubscriptionTarget } from '../../realtime/subscription-target.ts'
import { cancellable } from '../../support/cancellable.ts'
import type { Authorization } from '../dispatch/authorize.ts'
import type { Match } from '../dispatch/route.ts'
import { opening, piecesOf, streamHeaders } from './event-stream-format.ts'
import { keepAlive } from './keep-alive.ts'
import type { StreamSlots } from './stream-slots.ts'
import { assertLocalCondition, type SubscriptionFactory } from './subscription-factory.ts'

/** Responds with the events of a model, of the records that match a filter, or of one record, as server-sent events. */
export class Streams {
  readonly #subscriptions: SubscriptionFactory
  readonly #context: OperationServices
  readonly #slots: StreamSlots

  constructor(subscriptions: SubscriptionFactory, context: OperationServices, slots: StreamSlots) {
    this.#subscriptions = subscriptions
    this.#context = context
    this.#slots = slots
  }

  async open(request: ServiceRequest, match: Match, authorization: Authorization): Promise<ServiceResponse> {
    const { target, since } = readTarget(request, match, this.#context)
    const slot = this.#slots.take()
    const live = this.#subscriptions.open({ target, since, authorization, overflow: 'reset', isForClient: true })
    const close = () => {
      slot[Symbol.dispose]()
      void live.return()
    }
    try {
      const { value: first } = await live.next()
      if (!first) throw new ServiceError('E_UNAVAILABLE', 'The service is stopping')
      if (request.method !== 'HEAD')
        return {
          status: 200,
          headers: streamHeaders,
          stream: this.#streamed(live, first, authorization.requester, close),
        }
      close()
      return { status: 200, headers: streamHeaders, stream: nothing }
    } catch (error) {
      close()
      throw error
    }
  }

  #streamed(live: EventIterator, first: IteratorItem, requester: Requester, close: () => void): Streamed {
    const heartbeat = keepAlive(requester, this.#context.clock, live)
    let isOpen = true
    const end = () => {
      if (!isOpen) return
      isOpen = false
      heartbeat[Symbol.dispose]()
      close()
    }
    let unsentLength = 0
    async function* pieces(): AsyncGenerator<string, undefined, undefined> {
      try {
        yield opening(first)
        for await (const item of live) yield* piecesOf(item, (length) => (unsentLength = length))
      } finally {
        end()
      }
    }
    return {
      ...cancellable(pieces(), end),
      stop: () => live.stop(),
      get unsentLength() {
        return unsentLength
      },
    }
  }
}

const nothing: Streamed = { async *[Symbol.asyncIterator]() {} }

interface RequestedTarget {
  readonly target: SubscriptionTarget
  readonly since: Position | undefined
}

/** For clients that cannot set a header. A browser that reconnects sets the header as well, and its value is newer. */
const lastEventId = 'lastEventId'

/** Reads the parameters of a find. Throws for those that have no meaning for a stream. */
function readTarget(request: ServiceRequest, match: Match, context: OperationServices): RequestedTarget {
  const { [lastEventId]: resumedFrom, _, ...given } = parametersOf(request, context)
  const since = positionOf(request.headers['last-event-id'] ?? resumedFrom)
  const { model, operation, record } = match
  if (operation.streams === 'record') {
    refuse(Object.keys(given), 'of one record')
    return { target: { model, id: existingKey(record, model) as RecordId }, since }
  }
  refuse(
    Object.keys(given).filter((name) => name !== 'where' && !isFilter(name, given[name], model)),
    'of events',
  )
  const where = assertLocalCondition(whereOf(given, match, context))
  return { target: { model, where: isMatchAll(where) ? undefined : where }, since }
}

/** The body wins over the query string, as for every request. It is as short, because a stream keeps its condition. */
function parametersOf({ query, body }: ServiceRequest, { limits }: OperationServices): JsonObject {
  if (body !== undefined && !isJsonObject(body)) throw new ServiceError('E_BAD_BODY', 'The body must be an object')
  if (body !== undefined && isLarger(body, limits.maxUrlBytes))
    throw new ServiceError(
      'E_BODY_TOO_LARGE',
      `The body of a request for a stream is larger than ${limits.maxUrlBytes} bytes`,
      { limit: 'maxUrlBytes' },
    )
  return { ...parseQueryString(query, limits), ...body }
}

function whereOf(query: JsonObject, { model, style }: Match, context: OperationServices) {
  const { criteria } = readFind({ style, query, body: {}, populates: false }, model, context)
  return criteria.where
}

function refuse([name]: readonly string[], ofWhat: string): void {
  if (name !== undefined) throw new ServiceError('E_BAD_REQUEST', `A stream ${ofWhat} takes no "${name}"`)
}

function positionOf(raw: Json | undefined): Position | undefined {
  if (raw === undefined || raw === '') return undefined
  if (typeof raw === 'string') return raw
  throw new ServiceError('E_BAD_REQUEST', `"${lastEventId}" must be the id of one event`)
}
