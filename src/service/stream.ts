import { isEverything } from '../criteria/criteria.ts'
import { readFind } from '../operation/find-input.ts'
import type { Context, Operation } from '../operation/operation.ts'
import { parseKey } from '../operation/record-key.ts'
import { reserved } from '../operation/reserved.ts'
import type { Position, RecordId } from '../protocol/change.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { parseQueryString } from '../protocol/query-string.ts'
import type { ServiceRequest, ServiceResponse, Streamed } from '../protocol/request.ts'
import type { Live, LiveItem } from '../realtime/live.ts'
import type { Watched } from '../realtime/watched.ts'
import { systemClock } from '../support/clock.ts'
import { endable } from '../support/endable.ts'
import { opening, piecesOf, sizeOf } from './event-text.ts'
import { type Lives, ofRecordAlone } from './lives.ts'
import type { Match } from './route.ts'

/** So often something is sent at least: proxies take a connection on which nothing comes for dead. */
const keepAliveMs = 15_000

const headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  // Or nginx would keep events back until there are enough of them.
  'X-Accel-Buffering': 'no',
  Vary: 'Accept',
}

/** Whether who asks for this may listen instead. */
export const isAlsoStreamed = ({ name }: Operation): boolean => name === 'find' || name === 'findOne'

/** Answers with what happens to a model, to some of its records or to one, as server-sent events. */
export class Streams {
  readonly #lives: Lives
  readonly #context: Context
  #open = 0

  constructor(lives: Lives, context: Context) {
    this.#lives = lives
    this.#context = context
  }

  async open(request: ServiceRequest, match: Match): Promise<ServiceResponse> {
    const { limits } = this.#context
    const { watched, since } = readWatched(request, match, this.#context)
    if (this.#open >= limits.maxStreams) throw tooMany(limits.maxStreams)
    this.#open++
    const live = this.#lives.open(watched, since, {
      capacity: limits.maxQueuedBytes,
      weigh: sizeOf,
      whenFull: 'end',
    })
    const close = () => {
      this.#open--
      void live.return()
    }
    try {
      const { value: first } = await live.next()
      if (!first) throw new ServiceError('E_UNAVAILABLE', 'The service stops')
      if (request.method !== 'HEAD') return { status: 200, headers, stream: this.#streamed(live, first, close) }
      close()
      return { status: 200, headers, stream: nothing }
    } catch (error) {
      close()
      throw error
    }
  }

  #streamed(live: Live, first: LiveItem, close: () => void): Streamed {
    const { every = systemClock.every } = this.#context.clock
    const probing = every(keepAliveMs, () => live.probe())
    let isOpen = true
    const end = () => {
      if (!isOpen) return
      isOpen = false
      probing[Symbol.dispose]()
      close()
    }
    return { ...endable(piecesFrom(live, first, end), end), stop: () => live.stop() }
  }
}

async function* piecesFrom(live: Live, first: LiveItem, end: () => void): AsyncGenerator<string, undefined, undefined> {
  try {
    yield opening(first)
    for await (const item of live) yield* piecesOf(item)
  } finally {
    end()
  }
}

const nothing: Streamed = { async *[Symbol.asyncIterator]() {} }

const tooMany = (maxStreams: number): ServiceError =>
  new ServiceError('E_UNAVAILABLE', `There are ${maxStreams} streams already`, {
    limit: 'maxStreams',
    headers: { 'Retry-After': '10' },
  })

interface Asked {
  readonly watched: Watched
  readonly since: Position | undefined
}

/** For those that cannot set a header. A browser that comes back sets it all the same, and it knows better. */
const lastEventId = 'lastEventId'

/** What somebody listens to, in the words of a find. Throws for what has no meaning for a stream. */
function readWatched(request: ServiceRequest, match: Match, context: Context): Asked {
  const { [lastEventId]: said, _, ...query } = parseQueryString(request.query, context.limits)
  const since = positionOf(request.headers['last-event-id'] ?? said)
  const { model, operation, record } = match
  if (operation.name === 'findOne') {
    refuse(Object.keys(query), 'of one record')
    return { watched: { model, id: parseKey(record, model) as RecordId }, since }
  }
  refuse(
    Object.keys(query).filter((name) => name !== 'where' && reserved.has(name)),
    'of events',
  )
  const where = ofRecordAlone(whereOf(query, match, context))
  return { watched: { model, where: isEverything(where) ? undefined : where }, since }
}

function whereOf(query: JsonObject, { model, style }: Match, context: Context) {
  const { criteria } = readFind({ style, query, body: {}, populates: false }, model, context)
  return criteria.where
}

function refuse([name]: readonly string[], ofWhat: string): void {
  if (name !== undefined) throw new ServiceError('E_BAD_REQUEST', `A stream ${ofWhat} takes no "${name}"`)
}

function positionOf(raw: Json | undefined): Position | undefined {
  if (raw === undefined || raw === '') return undefined
  if (typeof raw === 'string') return raw
  throw new ServiceError('E_BAD_REQUEST', `"${lastEventId}" is the id of one event`)
}
