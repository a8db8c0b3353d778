import type { RecordId, Verb } from '../protocol/change.ts'
import type { JsonObject } from '../protocol/json.ts'

/** The change that a job runs for. */
export interface JobEvent {
  /** The same for every run of this event, in every process. A receiver can store it to detect repetitions. */
  readonly eventId: string
  readonly verb: Verb
  readonly model: string
  /** The key of the record. */
  readonly id: RecordId
  /** The time of the change, ISO 8601. */
  readonly at: string
  /** The record before an `updated` or a `destroyed`. */
  readonly previous?: JsonObject
}

/** The context of a run. */
export interface JobContext {
  /** 1 for the first run of this event. */
  readonly attempt: number
  /** Aborted when the run exceeds `timeoutMs`, when the service stops, and when another process runs the job instead. */
  readonly signal: AbortSignal
  /** The records of all models, without access rules. */
  // biome-ignore lint/suspicious/noExplicitAny: a job is declared inside of the models whose records these are
  readonly system: { readonly records: any }
}
export interface EventJobContext extends JobContext {
  readonly event: JobEvent
}

export interface JobOptions {
  /** How often a failed run is repeated before the event becomes a dead letter; default 8. The delays grow up to an hour. */
  readonly retry?: number
  /** How many records are handled at the same time; default 1. The events of one record are always handled one after another. */
  readonly concurrency?: number
  /**
   * The time limit of a run in milliseconds; default is the limit `jobTimeoutMs`. A run that exceeds it has failed, and its
   * signal is aborted.
   */
  readonly timeoutMs?: number
  /**
   * Where a job with a new name begins: `'now'` (default) at the end of the change log, `'beginning'` at the oldest change in it.
   */
  readonly from?: 'now' | 'beginning'
}

/**
 * A function that runs after the commit of a change, at least once for each. Its position in the change log is stored under its
 * name.
 */
export interface Job<Rec = never> extends JobOptions {
  /** 1 to 100 characters. A job with another name is a new one. */
  readonly name: string
  /** Receives the record after the change; for `destroyed`, as it was before. A run fails when this throws or rejects. */
  readonly run: (record: Rec, context: EventJobContext) => unknown
  /** Two declarations with the same name are one job if this is equal. `webhook` sets it from its arguments. */
  readonly sameAs?: string
}

/** The jobs of a model. */
export type JobDefinitions<Rec = never> = {
  readonly [verb in Verb]?: Job<Rec> | readonly Job<Rec>[]
}

// biome-ignore lint/suspicious/noExplicitAny: the type of the record is known to the caller only
type AnyRecord = any

/**
 * Declares a job: a function that runs after the commit of each change that it is declared for. Its progress is stored under its
 * name.
 */
export const job = <Rec = AnyRecord>(
  name: string,
  run: Job<Rec>['run'],
  options: JobOptions = {},
): Job<NoInfer<Rec>> => ({
  ...options,
  name,
  run,
})

const optionNames = ['name', 'run', 'sameAs', 'retry', 'concurrency', 'timeoutMs', 'from']
const longestName = 100

/** What is wrong with a job, as the end of a sentence about it; empty when nothing is. */
export function jobProblems(given: unknown): readonly string[] {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return ['must be a job: job(name, function)']
  const { name, run, from, ...options } = given as { readonly [name in keyof Job]?: unknown }
  const unknown = Object.keys(given).filter((option) => !optionNames.includes(option))
  return [
    ...nameProblems(name),
    ...(typeof run === 'function' ? [] : ['has no function to run']),
    ...(from === undefined || from === 'now' || from === 'beginning' ? [] : ['from must be "now" or "beginning"']),
    ...numberProblems(options),
    ...unknown.map((option) => `has no option "${option}"`),
  ]
}

/** Of a job or a schedule: it is a key of the tables of jobs. */
export function nameProblems(name: unknown): readonly string[] {
  const isName = typeof name === 'string' && name !== '' && name.length <= longestName && !/\p{Cc}/u.test(name)
  return isName ? [] : [`its name must be a string of 1 to ${longestName} characters`]
}

const mostConcurrent = 100

export function numberProblems({
  retry,
  concurrency,
  timeoutMs,
}: {
  readonly [name: string]: unknown
}): readonly string[] {
  const isWhole = (value: unknown, least: number, most: number): boolean =>
    value === undefined || (Number.isInteger(value) && Number(value) >= least && Number(value) <= most)
  return [
    ...(isWhole(retry, 0, 1_000) ? [] : ['retry must be a whole number from 0 to 1000']),
    ...(isWhole(concurrency, 1, mostConcurrent)
      ? []
      : [`concurrency must be a whole number from 1 to ${mostConcurrent}`]),
    ...(isWhole(timeoutMs, 1, 2 ** 31 - 1) ? [] : ['timeoutMs must be a whole number of milliseconds']),
  ]
}
