import type { Models } from '../model/model.ts'
import { indexAssociations } from '../realtime/association-index.ts'
import type { ChangeLog } from '../storage/change-log.ts'
import type { JobStore } from '../storage/job-store.ts'
import { backgroundError } from '../support/background-error.ts'
import { type Clock, callEvery } from '../support/clock.ts'
import type { Limits } from '../support/limits.ts'
import type { JobObservation } from '../support/observation.ts'
import type { DeclaredJobs } from './declared-jobs.ts'
import { JobRunner, type JobSource, type RunnableJob } from './job-runner.ts'
import { LogSource } from './log-source.ts'
import { runnableJob, runnableSchedule } from './runnable.ts'
import { positionOfTimes, ScheduleSource } from './schedule-source.ts'
import { nextTime } from './schedule-times.ts'

/** The interval at which due times are compared. */
const tickMs = 250
/** The share of a lease after which it is renewed. */
const renewals = 3

export interface JobServiceParts {
  readonly declared: DeclaredJobs
  readonly models: Models
  readonly log: ChangeLog
  readonly store: JobStore
  readonly clock: Clock
  readonly limits: Limits
  /** Passed to the jobs. */
  readonly system: { readonly records: object }
  readonly report: (observation: JobObservation) => void
  readonly onError: (error: unknown) => void
}

interface Startable {
  readonly job: RunnableJob
  source(claim: { readonly position: string; readonly dueAt: number }): JobSource
}

/** Runs the jobs of a configuration, as far as this process is their holder. */
export class JobService {
  readonly #parts: JobServiceParts
  readonly #startable: readonly Startable[]
  readonly #runners = new Map<string, JobRunner>()
  #ticks: Disposable | undefined
  #turn: Promise<void> | undefined
  #renewedAt = 0
  #started: Promise<void> | undefined
  #isStopped = false
  #hasFailed = false

  constructor(parts: JobServiceParts) {
    this.#parts = parts
    const { declared, models, log, clock, limits, system } = parts
    const associations = indexAssociations(models)
    const jobs = [...declared.jobs.values()].map(
      ({ job, events }): Startable => ({
        job: runnableJob(job, limits, system),
        source: ({ position }) =>
          new LogSource({
            log,
            position,
            wanted: events,
            associations,
            maxWaiting: limits.maxJobBacklog,
            maxBytesWaiting: limits.maxJobBacklogBytes,
            clock,
            onError: this.#errorsOf(job.name),
          }),
      }),
    )
    const schedules = [...declared.schedules].map(
      ([name, schedule]): Startable => ({
        job: runnableSchedule(name, schedule, limits, system),
        source: (claim) => new ScheduleSource({ name, times: schedule.times, clock, ...claim }),
      }),
    )
    this.#startable = [...jobs, ...schedules]
  }

  /** Resolves when new names have their position: every later change is handled. What has failed is tried again by a later call. */
  start(): Promise<void> {
    this.#started ??= this.#start().catch((error) => {
      this.#started = undefined
      throw error
    })
    return this.#started
  }

  async #start(): Promise<void> {
    const { declared, log, store, clock } = this.#parts
    await store.prepare()
    const now = clock.now()
    for (const { job } of declared.jobs.values()) {
      const position = await (job.from === 'beginning' ? log.tail() : log.head())
      await store.register([{ name: job.name, position, dueAt: 0 }])
    }
    for (const [name, { times }] of declared.schedules) {
      const dueAt = nextTime(times, now, now) ?? Number.MAX_SAFE_INTEGER
      await store.register([{ name, position: positionOfTimes(times), dueAt }])
    }
    if (this.#isStopped) return
    this.#ticks = callEvery(clock, tickMs, () => this.#tick())
    this.#tick()
  }

  /** Runs are aborted and have this time to end. What has not ended by then is run again by the next holder. */
  async stop(timeoutMs: number): Promise<void> {
    this.#isStopped = true
    await this.#started?.catch(() => {})
    this.#ticks?.[Symbol.dispose]()
    await this.#turn
    await Promise.all([...this.#runners.values()].map((runner) => runner.stop(timeoutMs)))
    for (const [name, { fence }] of this.#runners) await this.#parts.store.release(name, fence).catch(() => {}) // its lease ends
    this.#runners.clear()
    await this.#parts.store.close()
  }

  /** When the clock was set back, it is not known: by more than a moment, the lease is renewed at once. */
  get #sinceRenewalMs(): number {
    return Math.abs(this.#parts.clock.now() - this.#renewedAt)
  }

  #tick(): void {
    for (const runner of this.#runners.values()) runner.tick()
    if (this.#turn || this.#sinceRenewalMs < this.#parts.limits.jobLeaseMs / renewals) return
    this.#turn = this.#renewAndClaim()
      .then(() => {
        this.#hasFailed = false
      })
      .catch((error) => this.#failed(error))
      .finally(() => {
        this.#turn = undefined
      })
  }

  async #renewAndClaim(): Promise<void> {
    const { store, clock } = this.#parts
    const held = await store.renew()
    this.#renewedAt = clock.now()
    for (const [name, runner] of this.#runners) {
      const claim = held.get(name)
      if (claim?.fence === runner.fence) await runner.revise(claim.revision)
      else {
        runner.abandon('another process may have taken the job over')
        this.#runners.delete(name)
      }
    }
    for (const startable of this.#startable) if (!this.#isStopped) await this.#claim(startable)
  }

  async #claim({ job, source }: Startable): Promise<void> {
    if (this.#runners.has(job.name)) return
    const claim = await this.#parts.store.claim(job.name)
    if (!claim) return
    const { name } = job
    const ended = () => void this.#runners.delete(name)
    const onError = this.#errorsOf(name)
    const runner = await JobRunner.start({ ...this.#parts, job, claim, source: source(claim), onError, ended })
    this.#runners.set(name, runner)
  }

  #errorsOf(job: string): (error: unknown) => void {
    return (error) => this.#parts.onError(backgroundError(`Job ${job}`, error))
  }

  /** A lease that could not be renewed ends, and then another process may be the holder. */
  #failed(error: unknown): void {
    const { limits, onError } = this.#parts
    if (this.#sinceRenewalMs > limits.jobLeaseMs)
      for (const runner of [...this.#runners.values()]) runner.abandon('its lease could not be renewed')
    if (!this.#hasFailed) onError(backgroundError('The jobs could not be claimed', error))
    this.#hasFailed = true
  }
}
