import { type JobContext, type JobOptions, numberProblems } from './job.ts'

/**
 * When a schedule runs. `cron`: a pattern of five or six fields, in a time zone such as `Europe/Oslo`; default is the time zone
 * of the process. `every`: an interval such as `30s`, `10m`, `2h` or `1d`.
 */
export type ScheduleTimes = { readonly cron: string; readonly timezone?: string } | { readonly every: string }

export interface ScheduleContext extends JobContext {
  /** The time at which the run is due, ISO 8601; it may begin later. Every attempt of the run has the same. */
  readonly scheduledAt: string
}

/** A function that runs at times or intervals. Its name is its key in `jobs` of the configuration. */
export interface Schedule extends Pick<JobOptions, 'retry' | 'timeoutMs'> {
  readonly times: ScheduleTimes
  /** A run fails when this throws or rejects. */
  readonly run: (context: ScheduleContext) => unknown
}

/** A function that runs at the times of a pattern or an interval. */
export const schedule = (
  times: ScheduleTimes,
  run: Schedule['run'],
  options: Pick<JobOptions, 'retry' | 'timeoutMs'> = {},
): Schedule => ({ ...options, times, run })

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** The milliseconds of `10m`; undefined for text that is none. */
export function intervalMs(every: unknown): number | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,5})([smhd])$/.exec(typeof every === 'string' ? every : '') ?? []
  return count === undefined ? undefined : Number(count) * (unitMs[unit] as number)
}

/** What is wrong with a schedule, apart from its pattern, which the library for patterns checks. */
export function scheduleProblems(given: unknown): readonly string[] {
  const { times, run, retry, timeoutMs, ...others } = (given ?? {}) as { readonly [name: string]: unknown }
  if (typeof given !== 'object' || typeof times !== 'object' || times === null || typeof run !== 'function')
    return ['must be a schedule: schedule({ every: "10m" }, function)']
  const { cron, timezone, every, ...otherTimes } = times as { readonly [name: string]: unknown }
  const unknown = [...Object.keys(others), ...Object.keys(otherTimes)]
  return [
    ...((cron === undefined) === (every === undefined) ? ['needs either cron or every'] : []),
    ...(cron === undefined || typeof cron === 'string' ? [] : ['cron must be a string']),
    ...(every === undefined || intervalMs(every) !== undefined ? [] : ['every must be an interval such as "10m"']),
    ...(timezone === undefined || typeof timezone === 'string' ? [] : ['timezone must be a string']),
    ...numberProblems({ retry, timeoutMs }),
    ...unknown.map((option) => `has no option "${option}"`),
  ]
}
