import type { EventJobContext, Job, JobContext } from '../model/job.ts'
import type { Schedule, ScheduleContext } from '../model/schedule.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Limits } from '../support/limits.ts'
import type { RecordEvent } from './job-events.ts'
import type { RunnableJob } from './job-runner.ts'

const defaultRetry = 8

type System = { readonly records: object }

export const runnableJob = (job: Job, { jobTimeoutMs }: Limits, system: System): RunnableJob => ({
  name: job.name,
  retry: job.retry ?? defaultRetry,
  concurrency: job.concurrency ?? 1,
  timeoutMs: job.timeoutMs ?? jobTimeoutMs,
  run(payload, context) {
    const { event, record } = payload as unknown as RecordEvent
    return job.run(record as never, { ...context, event, system } satisfies EventJobContext)
  },
})

export const runnableSchedule = (
  name: string,
  { run, retry = defaultRetry, timeoutMs }: Schedule,
  limits: Limits,
  system: System,
): RunnableJob => ({
  name,
  retry,
  concurrency: 1,
  timeoutMs: timeoutMs ?? limits.jobTimeoutMs,
  run(payload: JsonObject, context: Omit<JobContext, 'system'>) {
    const { scheduledAt } = payload as { readonly scheduledAt: string }
    return run({ ...context, scheduledAt, system } satisfies ScheduleContext)
  },
})
