import type { DeadLetterSummary, JobSummary } from '../../service/jobs.ts'
import { type Command, CommandError, type ExitCode, exitCode, UsageError } from '../command.ts'
import { openForInspection } from '../open-for-inspection.ts'
import type { OptionValues } from '../option.ts'
import type { Output } from '../output.ts'
import { didYouMean } from '../suggest.ts'

export const jobs: Command = {
  name: 'jobs',
  summary: 'List the jobs and their dead letters; retry or drop dead letters.',
  options: ['action', 'id', 'all', 'job', 'config', 'database', 'json', 'verbose'],
  arguments: ['action', 'id'],
  examples: [
    ['keelson jobs', 'the progress of every job, and its dead letters'],
    ['keelson jobs retry 12', 'run one dead letter again, from its first attempt'],
    ['keelson jobs drop --all --job welcome', 'delete all dead letters of one job'],
  ],

  async run(options, context): Promise<ExitCode> {
    const { output } = context
    const change = changeOf(options)
    const service = await openForInspection(options, context)
    try {
      const { jobs } = service
      const listed = await jobs.list()
      const selected = options.job === undefined ? listed : [jobNamed(options.job, listed)]
      if (change === undefined) {
        print(selected, await jobs.deadLetters(ofJob(options)), output)
        return exitCode.ok
      }
      const { action, selection } = change
      const count = await jobs[action](selection)
      if (count === 0 && selection.id !== undefined) throw new CommandError(`There is no dead letter ${selection.id}`)
      output.event({ event: action, count })
      const done = action === 'retry' ? 'will be run again' : 'deleted'
      output.line(`  ${count} dead letter${count === 1 ? '' : 's'} ${done}.`)
      return exitCode.ok
    } finally {
      await service.close()
    }
  },
}

/** The job of this name, also one that is not declared any more. Throws a UsageError if it has never run on this database. */
function jobNamed(name: string, listed: readonly JobSummary[]): JobSummary {
  const found = listed.find((job) => job.name === name)
  if (found) return found
  const names = listed.map((job) => job.name)
  throw new UsageError(
    `No job "${name}" has run on this database`,
    didYouMean(name, names, (near) => `--job ${near}`),
  )
}

interface Change {
  readonly action: 'retry' | 'drop'
  readonly selection: { readonly id?: number | undefined; readonly name?: string | undefined }
}

/** The requested change; undefined if the jobs are only listed. Throws a UsageError for an action without a selection. */
function changeOf({ action, id, all, job }: OptionValues): Change | undefined {
  if (action === undefined || action === 'list') {
    if (id !== undefined || all) throw new UsageError('Missing action: retry or drop', 'keelson jobs retry 12')
    return undefined
  }
  if (action !== 'retry' && action !== 'drop') throw new UsageError(`"${action}" is not an action: list, retry or drop`)
  if ((id === undefined) === (all !== true))
    throw new UsageError(`"${action}" needs the id of a dead letter, or --all`, `keelson jobs ${action} --all`)
  if (id !== undefined && !/^\d{1,15}$/.test(id))
    throw new UsageError(`The id of a dead letter is a number, not "${id}"`)
  return { action, selection: { ...ofJob({ job }), ...(id !== undefined && { id: Number(id) }) } }
}

const ofJob = ({ job }: Pick<OptionValues, 'job'>) => (job === undefined ? {} : { name: job })

function print(jobs: readonly JobSummary[], letters: readonly DeadLetterSummary[], output: Output): void {
  const { line, paint } = output
  for (const job of jobs) output.event({ event: 'job', ...job })
  for (const letter of letters) output.event({ ...letter, event: 'dead-letter', of: letter.event })
  if (jobs.length === 0) line('  No job has run on this database.')
  const widest = Math.max(...jobs.map(({ name }) => name.length), 0)
  for (const job of jobs) line(`  ${paint('bold', job.name.padEnd(widest))}   ${stateOf(job)}`)
  if (letters.length > 0) line(`\n  ${paint('red', 'Dead letters')}`)
  for (const { id, job, attempts, error, at, event } of letters) {
    const of = 'verb' in event ? `${event.verb} ${event.model} ${event.id}` : `scheduled at ${event.scheduledAt}`
    line(`  ${String(id).padStart(6)}  ${job}  ${of}  ${paint('dim', `${at}, ${attempts} attempts:`)} ${error}`)
  }
  line()
}

const stateOf = ({ isDeclared, waiting, deadLetters, nextRunAt, lostAt }: JobSummary): string =>
  [
    ...(isDeclared ? [] : ['not declared any more, so it is not run']),
    ...(nextRunAt === undefined ? [] : [`next at ${nextRunAt}`]),
    `${waiting} waiting for a retry`,
    `${deadLetters} dead`,
    ...(lostAt === undefined ? [] : [`events were lost at ${lostAt}`]),
  ].join(', ')
