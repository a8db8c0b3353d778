import { type Job, type JobDefinitions, jobProblems, nameProblems } from '../model/job.ts'
import { type Schedule, scheduleProblems } from '../model/schedule.ts'
import { type Verb, verbs } from '../protocol/change.ts'
import { orNearest } from '../support/nearest.ts'
import { scheduleTimesProblem } from './schedule-times.ts'

/** A job with everything that it was declared for. */
export interface DeclaredJob {
  readonly job: Job
  /** The verbs by model. */
  readonly events: ReadonlyMap<string, ReadonlySet<Verb>>
}

export interface DeclaredJobs {
  readonly jobs: ReadonlyMap<string, DeclaredJob>
  readonly schedules: ReadonlyMap<string, Schedule>
}

/** The places of a configuration where jobs are declared. */
export interface JobPlaces {
  readonly models: { readonly [name: string]: { readonly on?: unknown } }
  readonly on?: { readonly [model: string]: unknown } | undefined
  readonly jobs?: { readonly [name: string]: unknown } | undefined
}

/** Reads the jobs of a configuration. Each problem is reported with its place. */
export function declaredJobs(
  { models, on, jobs: schedules = {} }: JobPlaces,
  problem: (text: string) => void,
): DeclaredJobs {
  const jobs = new Map<string, { readonly job: Job; readonly events: Map<string, Set<Verb>> }>()
  const declare = (place: string, model: string, verb: Verb, given: unknown): void => {
    const problems = jobProblems(given)
    for (const text of problems) problem(`${place}: ${text}`)
    if (problems.length > 0) return
    const job = given as Job
    const known = jobs.get(job.name)
    if (known && known.job !== job && (job.sameAs === undefined || known.job.sameAs !== job.sameAs)) {
      problem(`${place}: another job has the name "${job.name}"; one job may be used in several places`)
      return
    }
    const { events } = known ?? { events: new Map<string, Set<Verb>>() }
    events.set(model, (events.get(model) ?? new Set<Verb>()).add(verb))
    if (!known) jobs.set(job.name, { job, events })
  }
  const declareModel = (place: string, model: string, given: unknown): void => {
    if (given === undefined) return
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      problem(`${place} must be an object with jobs for ${verbs.join(', ')}`)
      return
    }
    for (const [verb, list] of Object.entries(given as JobDefinitions)) {
      if (!(verbs as readonly string[]).includes(verb))
        problem(`${place}.${verb}: there is no such event; there are ${verbs.join(', ')}`)
      else if (list !== undefined)
        for (const job of [list].flat()) declare(`${place}.${verb}`, model, verb as Verb, job)
    }
  }
  for (const [model, definition] of Object.entries(models)) declareModel(`${model}.on`, model, definition?.on)
  for (const [model, given] of Object.entries(on ?? {})) {
    if (Object.hasOwn(models, model)) declareModel(`on.${model}`, model, given)
    else problem(`on.${model}: there is no model "${model}"${orNearest(model, Object.keys(models))}`)
  }
  for (const [name, given] of Object.entries(schedules)) {
    const problems = [...nameProblems(name), ...scheduleProblems(given)]
    const times = problems.length === 0 ? scheduleTimesProblem((given as Schedule).times) : undefined
    for (const text of times === undefined ? problems : [times]) problem(`jobs.${name}: ${text}`)
    if (jobs.has(name)) problem(`jobs.${name}: another job has this name`)
  }
  return { jobs, schedules: new Map(Object.entries(schedules as { readonly [name: string]: Schedule })) }
}
