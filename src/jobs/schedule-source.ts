import type { ScheduleTimes } from '../model/schedule.ts'
import type { Clock } from '../support/clock.ts'
import type { EventSink, JobSource } from './job-runner.ts'
import { nextTime } from './schedule-times.ts'

export interface ScheduleSourceParts {
  readonly name: string
  readonly times: ScheduleTimes
  /** The times of which `dueAt` is one. */
  readonly position: string
  readonly dueAt: number
  readonly clock: Clock
}

/** Clocks of different machines differ, and clocks are corrected: a run that was due within this time is not repeated. */
const clockDifferenceMs = 60_000

/** The times as they are stored: after a change of them, the next time is found anew. */
export const positionOfTimes = (times: ScheduleTimes): string => JSON.stringify(times)

/** The runs of a schedule. A run is stored when it is due, and from then on it is an event like any other. */
export class ScheduleSource implements JobSource {
  readonly #parts: ScheduleSourceParts
  #dueAt: number
  #polledAt = Number.POSITIVE_INFINITY

  constructor(parts: ScheduleSourceParts) {
    this.#parts = parts
    const isSame = parts.position === positionOfTimes(parts.times)
    this.#dueAt = isSame ? parts.dueAt : this.#next(parts.clock.now())
  }

  progress(): { readonly position: string; readonly dueAt: number } {
    return { position: positionOfTimes(this.#parts.times), dueAt: this.#dueAt }
  }

  /** Times that passed while no process ran count as one, and so do those that pass while a run is repeated. */
  poll(sink: EventSink): void {
    const now = this.#parts.clock.now()
    if (now < this.#polledAt) this.#advance(now, sink)
    this.#polledAt = now
    if (now < this.#dueAt) return
    const scheduledAt = new Date(this.#dueAt).toISOString()
    this.#dueAt = this.#next(this.#dueAt)
    const eventId = `${this.#parts.name}@${scheduledAt}`
    const isRunning = sink.inMemory + sink.waiting > 0
    if (isRunning) sink.save()
    else sink.add({ eventId, key: '', operation: undefined, payload: { scheduledAt }, bytes: 0 }, true)
  }

  stop(): void {}

  /** When the clock was set back, there are times before the one that was the next. */
  #advance(now: number, sink: EventSink): void {
    const next = this.#next(this.#dueAt, now + clockDifferenceMs)
    if (next >= this.#dueAt) return
    this.#dueAt = next
    sink.save()
  }

  /** A pattern that names no further time is never due. */
  #next(since: number, after = this.#parts.clock.now()): number {
    return nextTime(this.#parts.times, since, after) ?? Number.MAX_SAFE_INTEGER
  }
}
