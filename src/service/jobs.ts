import type { DeclaredJobs } from '../jobs/declared-jobs.ts'
import type { JobServiceParts } from '../jobs/job-service.ts'
import { isObject } from '../model/definition-kinds.ts'
import type { ErrorListener } from '../protocol/error-response.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { DeadLetterSelection, JobStore } from '../storage/job-store.ts'
import type { Clock } from '../support/clock.ts'
import { hasProperties } from '../support/has-properties.ts'
import { jobError, jobMessage } from '../support/logger.ts'
import type { JobObservation, Observe } from '../support/observation.ts'
import type { AnyConfig } from './config/config.ts'

/** The progress of one job. */
export interface JobSummary {
  /** The name of the job; for a schedule, its key in `jobs` of the configuration. */
  readonly name: string
  /** False if the configuration no longer contains the job: no process runs it. */
  readonly isDeclared: boolean
  /** Events that wait for a retry, or behind an earlier event of the same record. */
  readonly waiting: number
  /** The number of its dead letters. */
  readonly deadLetters: number
  /** The time of the next run of a schedule, ISO 8601; absent for jobs of events. */
  readonly nextRunAt?: string
  /**
   * The last time at which events were lost, ISO 8601: the change log no longer contained them, or the oldest dead letters were dropped.
   * Absent if none were.
   */
  readonly lostAt?: string
}

/** An event whose last attempt failed. */
export interface DeadLetterSummary {
  /** Selects this dead letter in `retry` and `drop`. */
  readonly id: number
  /** The name of the job. */
  readonly job: string
  /** The number of failed runs. */
  readonly attempts: number
  /** The message of the error of the last run. */
  readonly error: string
  /** When the event was stored, ISO 8601: after its first failed run, or when an earlier event of its record delayed it. */
  readonly at: string
  /** The event. For a schedule, only `scheduledAt`. */
  readonly event: JsonObject
}

/** The jobs of a service: their progress, and their dead letters. */
export interface JobControl {
  /** All jobs that a process has started on this database, also those that are not declared any more. */
  list(): Promise<readonly JobSummary[]>
  /** The selected dead letters, oldest first; default all. */
  deadLetters(selection?: DeadLetterSelection): Promise<readonly DeadLetterSummary[]>
  /** Queues the selected dead letters again, beginning with attempt 1; default all. Resolves with their number. */
  retry(selection?: DeadLetterSelection): Promise<number>
  /** Deletes the selected dead letters; default all. Resolves with their number. */
  drop(selection?: DeadLetterSelection): Promise<number>
}

/** The jobs of a configuration, and their control. */
export interface OpenJobs {
  readonly control: JobControl
  /** Runs the jobs of this configuration in this process from now on. Does nothing if there are none. */
  start(): Promise<void>
  stop(timeoutMs: number): Promise<void>
}

export interface JobsParts extends Omit<JobServiceParts, 'declared' | 'report'> {
  readonly onError: ErrorListener
  readonly observe: Observe | undefined
}

/** The jobs of a configuration; undefined without any. */
export interface ReadJobs {
  readonly declared: DeclaredJobs | undefined
  /** What is wrong with them. */
  readonly problems: readonly string[]
}

/** Of a configuration that may be invalid. Without jobs nothing is loaded. */
export async function readJobs(config: AnyConfig): Promise<ReadJobs> {
  const problems: string[] = []
  if (!declaresJobs(config)) return { declared: undefined, problems }
  const { declaredJobs } = await import('../jobs/declared-jobs.ts')
  return { declared: declaredJobs(config, (text) => problems.push(text)), problems }
}

/** `declared`: jobs without problems. */
export async function openJobs(declared: DeclaredJobs | undefined, parts: JobsParts): Promise<OpenJobs> {
  const { store, clock } = parts
  const names = new Set([...(declared?.jobs.keys() ?? []), ...(declared?.schedules.keys() ?? [])])
  const control = controlOf(store, clock, names)
  if (names.size === 0 || !declared) return { control, start: async () => {}, stop: () => store.close() }
  const { JobService } = await import('../jobs/job-service.ts')
  const service = new JobService({ ...parts, declared, report: reporter(parts) })
  return { control, start: () => service.start(), stop: (timeoutMs) => service.stop(timeoutMs) }
}

/** What is not an object is reported with the other settings. */
function declaresJobs(config: AnyConfig): boolean {
  const { models, on, jobs } = Object(config) as AnyConfig
  if (!isObject(models) || ![on, jobs].every((place) => place === undefined || isObject(place))) return false
  if (on !== undefined || jobs !== undefined) return true
  return Object.values(models).some((definition) => definition?.on !== undefined)
}

/** Without a logger, an event is reported when its first run and its last run fail. */
function reporter({ observe, onError }: JobsParts): (observation: JobObservation) => void {
  if (observe) return observe
  return (observation) => {
    const { outcome, attempt, error } = observation
    if (outcome === 'done' || (outcome === 'failed' && attempt !== 1)) return
    onError(jobError(jobMessage(observation), error))
  }
}

const controlOf = (store: JobStore, clock: Clock, names: ReadonlySet<string>): JobControl => ({
  async list() {
    const states = (await store.states()) ?? []
    return states.map(({ name, dueAt, waiting, dead, lostAt }) => ({
      name,
      isDeclared: names.has(name),
      waiting,
      deadLetters: dead,
      ...(dueAt > 0 && dueAt < Number.MAX_SAFE_INTEGER && { nextRunAt: new Date(dueAt).toISOString() }),
      ...(lostAt !== undefined && { lostAt: new Date(lostAt).toISOString() }),
    }))
  },
  async deadLetters(selection = {}) {
    assertSelection(selection)
    if (!(await store.states())) return []
    return (await store.letters(selection)).map(({ id, name, text, attempt, error = '', at }) => {
      const payload = JSON.parse(text) as JsonObject
      const event = (payload.event ?? payload) as JsonObject
      return { id, job: name, attempts: attempt, error, at: new Date(at).toISOString(), event }
    })
  },
  async retry(selection = {}) {
    assertSelection(selection)
    return (await store.states()) ? store.retry(selection, clock.now()) : 0
  },
  async drop(selection = {}) {
    assertSelection(selection)
    return (await store.states()) ? store.drop(selection) : 0
  },
})

const selectionTypes: Readonly<Record<string, string>> = { id: 'number', name: 'string' } satisfies Record<
  keyof DeadLetterSelection,
  string
>

/** Without this, a misspelt member, or one that is undefined by mistake, would select all dead letters. */
function assertSelection(selection: unknown): void {
  if (!hasProperties(selection)) throw new ServiceError('E_BAD_REQUEST', 'The selection of dead letters is an object')
  for (const [name, value] of Object.entries(selection)) {
    const type = Object.hasOwn(selectionTypes, name) ? selectionTypes[name] : undefined
    if (type === undefined)
      throw new ServiceError('E_BAD_REQUEST', `Dead letters are selected by "id" and "name", not by "${name}"`)
    if (typeof value !== type) throw new ServiceError('E_BAD_REQUEST', `The "${name}" of dead letters is a ${type}`)
  }
}
