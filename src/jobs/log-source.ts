import type { Verb } from '../protocol/change.ts'
import type { AssociationIndex } from '../realtime/association-index.ts'
import { operationsOf } from '../realtime/change-feed.ts'
import type { ChangeLog } from '../storage/change-log.ts'
import type { Clock } from '../support/clock.ts'
import { type RecordEvent, recordEventsOf } from './job-events.ts'
import type { EventSink, JobSource } from './job-runner.ts'
import { LogProgress } from './log-progress.ts'

const changesPerRead = 200
/** Events in memory above which the log is not read further, and bytes of their records: one may have some megabytes. */
const maxInMemory = 1_000
const maxBytesInMemory = 8_388_608
/** A position after changes that do not concern the job is stored at this interval. */
const idleSaveMs = 5_000
/** After the log could not be read. */
const retryMs = 1_000

export interface LogSourceParts {
  readonly log: ChangeLog
  readonly position: string
  /** The verbs by model. */
  readonly wanted: ReadonlyMap<string, ReadonlySet<Verb>>
  readonly associations: AssociationIndex
  readonly maxWaiting: number
  readonly maxBytesWaiting: number
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** The events of a job, read from the change log after its position. */
export class LogSource implements JobSource {
  readonly #parts: LogSourceParts
  readonly #progress: LogProgress
  readonly #hints: Disposable
  #sink: EventSink | undefined
  /** Up to where the log was read. */
  #position: string
  #saved: string
  #savedAt: number
  #notBefore = 0
  #isHinted = true
  #isReading = false
  #isStopped = false

  constructor(parts: LogSourceParts) {
    this.#parts = parts
    this.#position = parts.position
    this.#saved = parts.position
    this.#savedAt = parts.clock.now()
    this.#progress = new LogProgress(parts.position)
    this.#hints = parts.log.onChange(() => {
      this.#isHinted = true
      if (this.#sink) this.poll(this.#sink)
    })
  }

  progress(): { readonly position: string; readonly dueAt: number } {
    this.#saved = this.#progress.settled
    this.#savedAt = this.#parts.clock.now()
    return { position: this.#saved, dueAt: 0 }
  }

  poll(sink: EventSink): void {
    this.#sink = sink
    const now = this.#parts.clock.now()
    if (Math.abs(now - this.#savedAt) > idleSaveMs && this.#progress.settled !== this.#saved) sink.save()
    // Further ahead: the clock was set back.
    const isTooEarly = now < this.#notBefore && now >= this.#notBefore - retryMs
    if (this.#isReading || !this.#isHinted || isTooEarly || !this.#hasRoom(sink)) return
    this.#isReading = true
    void this.#readOn(sink)
      .catch((error) => {
        if (this.#isStopped) return
        this.#isHinted = true
        this.#notBefore = this.#parts.clock.now() + retryMs
        this.#parts.onError(error)
      })
      .finally(() => {
        this.#isReading = false
      })
  }

  stop(): void {
    this.#isStopped = true
    this.#hints[Symbol.dispose]()
  }

  #hasRoom({ inMemory, bytesInMemory, waiting, bytesWaiting }: EventSink): boolean {
    const { maxWaiting, maxBytesWaiting } = this.#parts
    const isFull =
      inMemory >= maxInMemory ||
      bytesInMemory >= maxBytesInMemory ||
      waiting >= maxWaiting ||
      bytesWaiting >= maxBytesWaiting
    return !this.#isStopped && !isFull
  }

  async #readOn(sink: EventSink): Promise<void> {
    const { log, wanted } = this.#parts
    while (this.#isHinted && this.#hasRoom(sink)) {
      this.#isHinted = false
      const batch = await log.read(this.#position, changesPerRead, (model) => wanted.has(model))
      if (this.#isStopped) return
      if (batch === 'reset') {
        if (await this.#isOfEarlierHistory()) return this.#claimAgain(sink)
        await this.#skipLost(sink)
        continue
      }
      if (batch.changes.length > 0) this.#isHinted = true
      const bytesOfOne = (batch.bytes ?? 0) / batch.changes.length
      for (const operation of operationsOf(batch.changes)) {
        const events = recordEventsOf(operation, this.#parts.associations, wanted)
        const bytes = Math.ceil((bytesOfOne * operation.changes.length) / events.length)
        this.#add(events, { position: operation.position, bytes }, sink)
      }
      this.#moveTo(batch.position)
    }
  }

  #add(
    events: readonly RecordEvent[],
    { position, bytes }: { readonly position: string; readonly bytes: number },
    sink: EventSink,
  ): void {
    if (events.length === 0) return
    const operation = this.#progress.add(position, events.length)
    for (const { event, record } of events) {
      const key = JSON.stringify([event.model, event.id])
      sink.add({ eventId: event.eventId, key, operation, payload: { event, record } as never, bytes })
    }
  }

  #moveTo(position: string): void {
    if (position === this.#position) return
    this.#position = position
    this.#progress.add(position, 0)
  }

  async #isOfEarlierHistory(): Promise<boolean> {
    const position = this.#position
    return ((await this.#parts.log.renewed?.(position)) ?? position) !== position
  }

  /** The server has crashed: only the stored position is one of its present history. A save is refused, and the job claimed again. */
  #claimAgain(sink: EventSink): void {
    this.#isHinted = true
    this.#notBefore = this.#parts.clock.now() + retryMs
    sink.save()
  }

  /** The log does not contain what follows the position: it was trimmed, or there are changes that it could not record. */
  async #skipLost(sink: EventSink): Promise<void> {
    const { log } = this.#parts
    const isKept = await log.isKept(this.#position)
    this.#moveTo(isKept ? await log.head() : await log.tail())
    this.#isHinted = true
    sink.lost()
  }
}
