import type { JsonObject } from '../protocol/json.ts'
import type { WaitingEvent } from '../storage/job-store.ts'
import { longestDelayMs } from './backoff.ts'
import type { OperationProgress } from './log-progress.ts'

/** One event of a job from the time that it was read until it is handled. */
export interface QueuedEvent {
  readonly eventId: string
  /** The record. */
  readonly key: string
  /** Runs so far. */
  attempt: number
  dueAt: number
  /** The longest time from now until then, also when the clock was set back since. */
  maxDelayMs: number
  /** Undefined: only in the database. */
  payload: JsonObject | undefined
  /** The size of its text; approximately, until it has a row. */
  bytes: number
  /** `log`: the log contains it. `saving`: a row of it is about to be stored. `stored`: it has a row, and is not needed in the log. */
  state: 'log' | 'saving' | 'stored'
  id: number | undefined
  readonly operation: OperationProgress | undefined
}

export const storedEvent = ({ id, eventId, key, attempt, dueAt, bytes }: WaitingEvent): QueuedEvent => ({
  id,
  eventId,
  key,
  attempt,
  dueAt,
  maxDelayMs: longestDelayMs,
  payload: undefined,
  bytes,
  state: 'stored',
  operation: undefined,
})

/** The events of each record in their order. The first of a record is run; those of different records independently. */
export class RecordQueues {
  readonly #queues = new Map<string, QueuedEvent[]>()
  readonly #running = new Set<string>()
  /** The records whose first event can be run now. */
  readonly #ready = new Set<string>()
  /** The records whose first event is to be run later. */
  readonly #delayed = new Set<string>()
  /** Kept, because one that begins anew passes all that were deleted. */
  #nextReady = this.#ready.values()
  /** The bytes of the events that wait in the database, by their ids. */
  readonly #stored = new Map<string, number>()
  #storedBytes = 0

  get running(): number {
    return this.#running.size
  }

  /** The events that wait in the database. */
  get stored(): number {
    return this.#stored.size
  }

  get storedBytes(): number {
    return this.#storedBytes
  }

  hasStored(eventId: string): boolean {
    return this.#stored.has(eventId)
  }

  /** Whether an event of this record must wait in the database, because an earlier one does. */
  mustStore(key: string): boolean {
    const last = this.#queues.get(key)?.at(-1)
    return last !== undefined && last.state !== 'log'
  }

  add(event: QueuedEvent, now: number): void {
    const queue = this.#queues.get(event.key)
    if (queue) queue.push(event)
    else this.#queues.set(event.key, [event])
    if (event.state === 'stored') this.#count(event)
    this.#refresh(event.key, now)
  }

  /** The next event to run; it is running from now on. */
  take(): QueuedEvent | undefined {
    let next = this.#nextReady.next()
    if (next.done) {
      this.#nextReady = this.#ready.values()
      next = this.#nextReady.next()
    }
    if (next.done) return undefined
    this.#ready.delete(next.value)
    this.#running.add(next.value)
    return this.#queues.get(next.value)?.[0]
  }

  /** The run has ended, and the event waits for its next one. Returns the events of the record that the log alone contains. */
  putBack(event: QueuedEvent): readonly QueuedEvent[] {
    this.#running.delete(event.key)
    this.#delayed.add(event.key)
    return this.#queues.get(event.key)?.filter(({ state }) => state === 'log') ?? []
  }

  remove(event: QueuedEvent, now: number): void {
    const { key, eventId } = event
    const queue = this.#queues.get(key)
    if (!queue) return
    if (queue[0] === event) {
      this.#running.delete(key)
      queue.shift()
    } else {
      const index = queue.indexOf(event)
      if (index >= 0) queue.splice(index, 1)
    }
    this.#storedBytes -= this.#stored.get(eventId) ?? 0
    this.#stored.delete(eventId)
    if (queue.length === 0) this.#queues.delete(key)
    this.#refresh(key, now)
  }

  store(event: QueuedEvent, id: number, now: number): void {
    event.state = 'stored'
    event.id = id
    event.payload = undefined
    this.#count(event)
    this.#refresh(event.key, now)
  }

  #count({ eventId, bytes }: QueuedEvent): void {
    this.#storedBytes += bytes - (this.#stored.get(eventId) ?? 0)
    this.#stored.set(eventId, bytes)
  }

  /** Finds the events that have become due. */
  refresh(now: number): void {
    for (const key of this.#delayed) this.#refresh(key, now)
  }

  /** An event whose row is being stored does not run before it is. */
  #refresh(key: string, now: number): void {
    const first = this.#queues.get(key)?.[0]
    if (first) first.dueAt = Math.min(first.dueAt, now + first.maxDelayMs)
    const mayRun = first !== undefined && !this.#running.has(key) && first.state !== 'saving'
    const isDue = mayRun && first.dueAt <= now
    this.#ready[isDue ? 'add' : 'delete'](key)
    this.#delayed[mayRun && !isDue ? 'add' : 'delete'](key)
  }
}
