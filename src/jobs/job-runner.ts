import type { JsonObject } from '../protocol/json.ts'
import type { JobClaim, JobStore, WaitingEvent } from '../storage/job-store.ts'
import type { Clock } from '../support/clock.ts'
import { errorText } from '../support/error-text.ts'
import { eventLoopTurn } from '../support/event-loop-turn.ts'
import type { Limits } from '../support/limits.ts'
import type { JobObservation } from '../support/observation.ts'
import { attempt } from './attempt.ts'
import { delayAfter, isFinal } from './backoff.ts'
import { DeadLetterTrim } from './dead-letter-trim.ts'
import { JobSaves } from './job-saves.ts'
import { type QueuedEvent, RecordQueues, storedEvent } from './record-queues.ts'

/** What a job does with one event. */
export interface RunnableJob {
  readonly name: string
  readonly retry: number
  readonly concurrency: number
  readonly timeoutMs: number
  run(payload: JsonObject, context: { readonly attempt: number; readonly signal: AbortSignal }): unknown
}

/** The source of a job's events. */
export interface JobSource {
  /** The progress to store: every event up to `position` is settled. */
  progress(): { readonly position: string; readonly dueAt: number }
  /** Looks for further events. */
  poll(queue: EventSink): void
  stop(): void
}

export interface EventSink {
  /** The events in memory, apart from those that wait in the database. */
  readonly inMemory: number
  readonly bytesInMemory: number
  readonly waiting: number
  readonly bytesWaiting: number
  add(
    event: Pick<QueuedEvent, 'eventId' | 'key' | 'operation' | 'bytes'> & { readonly payload: JsonObject },
    mustStore?: boolean,
  ): void
  /** Stores the progress. */
  save(): void
  lost(): void
}

export interface JobRunnerParts {
  readonly job: RunnableJob
  readonly claim: JobClaim
  readonly source: JobSource
  readonly store: JobStore
  readonly clock: Clock
  readonly limits: Limits
  readonly report: (observation: JobObservation) => void
  readonly onError: (error: unknown) => void
  /** The job is no longer run here. */
  readonly ended: () => void
}

/** Many may wait, such as all dead letters of an outage that a command retries. */
const rowsPerRead = 1_000
/** Longest message of a dead letter. */
const longestError = 1_000

/** Runs the events of one job in the process that holds it. */
export class JobRunner implements EventSink {
  readonly #parts: JobRunnerParts
  readonly #queues = new RecordQueues()
  readonly #saves: JobSaves
  readonly #letters: DeadLetterTrim
  readonly #stop = new AbortController()
  readonly #runs = new Set<Promise<void>>()
  #revision: number
  #isNextTurnAwaited = false
  inMemory = 0
  bytesInMemory = 0

  private constructor(parts: JobRunnerParts) {
    this.#parts = parts
    this.#revision = parts.claim.revision
    const { store, onError } = parts
    const { name } = parts.job
    this.#letters = new DeadLetterTrim({
      store,
      name,
      keptBytes: parts.limits.deadLetterKeepBytes,
      dropped: (count) => this.#lost({ outcome: 'deadLettersDropped', count }),
      onError,
    })
    this.#saves = new JobSaves({
      store,
      name,
      fence: parts.claim.fence,
      progress: () => parts.source.progress(),
      saved: (event, id) => this.#saved(event, id),
      stored: (save) => this.#letters.stored(save),
      fenced: () => this.abandon('another process may have taken the job over'),
      onError,
    })
  }

  static async start(parts: JobRunnerParts): Promise<JobRunner> {
    const runner = new JobRunner(parts)
    try {
      await runner.#readWaiting()
      runner.tick()
      return runner
    } catch (error) {
      runner.#end('it could not start')
      throw error
    }
  }

  get fence(): number {
    return this.#parts.claim.fence
  }

  get waiting(): number {
    return this.#queues.stored
  }

  get bytesWaiting(): number {
    return this.#queues.storedBytes
  }

  /** `revision`: differs when a command changed what waits. */
  async revise(revision: number): Promise<void> {
    if (revision === this.#revision) return
    this.#revision = revision
    await this.#readWaiting()
  }

  /** Called at an interval: runs events that have become due. */
  tick(): void {
    this.#queues.refresh(this.#parts.clock.now())
    this.poll()
  }

  /** Continues with what is new. */
  poll(): void {
    if (this.#stop.signal.aborted) return
    this.#parts.source.poll(this)
    this.#pump()
  }

  /** Aborts the runs, waits for their ends up to a time, and stores what has ended. */
  async stop(timeoutMs: number): Promise<void> {
    this.#end('the service stops')
    const timeout = Promise.withResolvers<void>()
    const timer = setTimeout(timeout.resolve, timeoutMs)
    await Promise.race([Promise.allSettled(this.#runs), timeout.promise])
    await Promise.race([this.#saves.finish().then(() => this.#letters.finish()), timeout.promise])
    clearTimeout(timer)
  }

  /** Aborts the runs and stores nothing: another process may be the holder. */
  abandon(reason: string): void {
    if (this.#stop.signal.aborted) return
    this.#end(reason)
    this.#saves.end()
    this.#parts.ended()
  }

  #end(reason: string): void {
    this.#stop.abort(new Error(`Aborted: ${reason}`))
    this.#parts.source.stop()
  }

  add(given: Parameters<EventSink['add']>[0], mustStore = false): void {
    const event: QueuedEvent = { ...given, attempt: 0, dueAt: 0, maxDelayMs: 0, state: 'log', id: undefined }
    if (this.#queues.hasStored(event.eventId)) {
      if (event.operation) event.operation.open--
      return
    }
    this.inMemory++
    this.bytesInMemory += event.bytes
    const isBehind = this.#queues.mustStore(event.key)
    if (isBehind || mustStore) this.#store(event)
    this.#queues.add(event, this.#parts.clock.now())
    this.#pump()
  }

  save(): void {
    this.#saves.request()
  }

  lost(): void {
    this.#lost({ outcome: 'eventsLost' })
  }

  #lost(what: Pick<JobObservation, 'outcome' | 'count'>): void {
    this.#saves.lost(this.#parts.clock.now())
    this.#parts.report({ kind: 'job', job: this.#parts.job.name, ...what })
  }

  async #readWaiting(): Promise<void> {
    const { store, job, clock } = this.#parts
    for (let page = await store.waiting(job.name, 0, rowsPerRead); page.length > 0; ) {
      for (const waiting of page)
        if (!this.#queues.hasStored(waiting.eventId)) this.#queues.add(storedEvent(waiting), clock.now())
      if (eventLoopTurn.isUsed) await eventLoopTurn.next()
      page = await store.waiting(job.name, (page.at(-1) as WaitingEvent).id, rowsPerRead)
    }
    this.#pump()
  }

  /** Runs that wait for nothing, and the reads of their events on SQLite, would all end in one turn of the event loop. */
  #pumpInNextTurn(): void {
    if (this.#isNextTurnAwaited) return
    this.#isNextTurnAwaited = true
    void eventLoopTurn.next().then(() => {
      this.#isNextTurnAwaited = false
      this.#pump()
    })
  }

  #pump(): void {
    while (!this.#stop.signal.aborted && this.#queues.running < this.#parts.job.concurrency) {
      if (eventLoopTurn.isUsed) {
        this.#pumpInNextTurn()
        return
      }
      const event = this.#queues.take()
      if (!event) return
      const run = this.#run(event).catch(this.#parts.onError)
      this.#runs.add(run)
      void run.finally(() => {
        this.#runs.delete(run)
        this.poll()
      })
    }
  }

  async #run(event: QueuedEvent): Promise<void> {
    const { job, clock, report } = this.#parts
    const payload = event.payload ?? (await this.#payloadOf(event))
    if (!payload) return this.#queues.remove(event, clock.now())
    const startedAt = performance.now()
    const stop = this.#stop.signal
    const number = event.attempt + 1
    const failure = await attempt((signal) => job.run(payload, { attempt: number, signal }), { stop, ...job })
    const ms = performance.now() - startedAt
    // An aborted run is not counted: it is repeated by the next holder.
    if (failure && stop.aborted) return
    const common = { kind: 'job', job: job.name, eventId: event.eventId, attempt: number, ms } as const
    // Reported last: a listener of the application that throws must not leave the event as one that is running.
    if (!failure) {
      this.#settle(event)
      return report({ ...common, outcome: 'done' })
    }
    const isDead = number > job.retry || isFinal(failure.error)
    this.#fail(event, failure.error, isDead)
    report({ ...common, outcome: isDead ? 'dead' : 'failed', error: failure.error })
  }

  /** A row that cannot be read is tried again. Undefined: a command dropped the event. */
  async #payloadOf(event: QueuedEvent): Promise<JsonObject | undefined> {
    const text = await this.#parts.store.text(event.id as number).catch((error) => {
      this.#delay(event, this.#parts.limits.jobRetryMs)
      this.#queues.putBack(event)
      throw error
    })
    return text === undefined ? undefined : JSON.parse(text)
  }

  /** The event needs no further run. */
  #settle(event: QueuedEvent): void {
    this.#queues.remove(event, this.#parts.clock.now())
    if (event.id !== undefined) {
      this.#saves.done(event.id)
    } else {
      if (event.state === 'log') this.#forget(event)
      if (event.operation) event.operation.open--
      this.#saves.request()
    }
  }

  #fail(event: QueuedEvent, cause: unknown, isDead: boolean): void {
    const { clock, limits } = this.#parts
    event.attempt++
    this.#delay(event, delayAfter(event.attempt, limits.jobRetryMs, cause))
    const error = storedTextOf(cause)
    if (event.id === undefined) this.#store(event, error, isDead)
    else {
      const { id, attempt, dueAt, bytes } = event
      this.#saves.failed({ id, attempt, dueAt, bytes, error, isDead })
    }
    if (isDead) this.#queues.remove(event, clock.now())
    else for (const later of this.#queues.putBack(event)) this.#store(later)
  }

  #delay(event: QueuedEvent, ms: number): void {
    event.dueAt = this.#parts.clock.now() + ms
    event.maxDelayMs = ms
  }

  /** From now on the event waits in the database, and the position in the log may move past it. */
  #store(event: QueuedEvent, error?: string, isDead = false): void {
    const { eventId, key, attempt, dueAt, payload } = event
    const text = JSON.stringify(payload)
    const bytes = Buffer.byteLength(text)
    this.bytesInMemory += bytes - event.bytes
    event.bytes = bytes
    event.state = 'saving'
    this.#saves.added(event, { eventId, key, attempt, dueAt, bytes, text, error, isDead })
  }

  #forget({ bytes }: QueuedEvent): void {
    this.inMemory--
    this.bytesInMemory -= bytes
  }

  #saved(event: QueuedEvent, id: number | undefined): void {
    this.#forget(event)
    if (id === undefined) this.#queues.remove(event, this.#parts.clock.now())
    else this.#queues.store(event, id, this.#parts.clock.now())
    this.poll()
  }
}

/** PostgreSQL stores no text with U+0000, and an error that cannot be stored would prevent every later save. */
const storedTextOf = (error: unknown): string => errorText(error).slice(0, longestError).replaceAll('\0', '\ufffd')
