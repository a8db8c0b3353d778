import { parseWhere } from '../criteria/parse-where.ts'
import type { Model } from '../model/model.ts'
import { parseKey } from '../operation/record-key.ts'
import type { Position, RecordId } from '../protocol/change.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Live, LiveItem } from '../realtime/live.ts'
import type { Watched, WatchedEvent } from '../realtime/watched.ts'
import { endable } from '../support/endable.ts'
import type { Limits } from '../support/limits.ts'
import { type Lives, ofRecordAlone } from './lives.ts'

/** Events that wait for a loop that is slow; past it, it reads them from the log. */
const capacity = 1_000

export interface LooseLiveOptions {
  readonly where?: Json
  readonly id?: Json
  readonly since?: Position
  readonly signal?: AbortSignal
}

/** What code in the same process hears. The types are laid over it by the public entry. */
export type LooseLiveEvent =
  | { readonly verb: 'ready' | 'reset' | 'restart'; readonly position: Position }
  | (WatchedEvent & { readonly position?: Position })

export type LooseLiveEvents = AsyncIterableIterator<LooseLiveEvent, undefined, undefined> & AsyncDisposable

export function liveRecords(
  lives: Lives,
  model: Model,
  limits: Limits,
  { where, id, since, signal, ...others }: LooseLiveOptions,
): LooseLiveEvents {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new ServiceError('E_BAD_CRITERIA', `There is no option "${unknown}" here`)
  const live = lives.open(watchedBy(where, id, model, limits), since, {
    capacity,
    weigh: (events) => events.length,
    whenFull: 'reread',
  })
  const end = () => {
    signal?.removeEventListener('abort', end)
    void live.return()
  }
  signal?.addEventListener('abort', end)
  if (signal?.aborted) end()
  return endable(eventsIn(live, end), end)
}

function watchedBy(where: Json | undefined, id: Json | undefined, model: Model, limits: Limits): Watched {
  if (id !== undefined && where !== undefined) {
    throw new ServiceError('E_BAD_REQUEST', 'One listens to a record by its id, or to those of a condition, not both')
  }
  if (id !== undefined) return { model, id: parseKey(id, model) as RecordId }
  return { model, where: where === undefined ? undefined : ofRecordAlone(parseWhere(where, model, limits)) }
}

async function* eventsIn(live: Live, end: () => void): AsyncGenerator<LooseLiveEvent, undefined, undefined> {
  try {
    for await (const item of live) yield* eventsOf(item)
  } finally {
    end()
  }
}

function* eventsOf(item: LiveItem): Generator<LooseLiveEvent> {
  if (item.kind === 'still') return
  if (item.kind !== 'operation') {
    yield { verb: item.kind, position: item.position }
    return
  }
  const { events, position } = item
  for (const [index, event] of events.entries()) yield index === events.length - 1 ? { ...event, position } : event
}
