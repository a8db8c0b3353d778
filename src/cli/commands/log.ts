import { existsSync } from 'node:fs'
import type { Models } from '../../model/model.ts'
import type { Position } from '../../protocol/change.ts'
import type { AnyConfig } from '../../service/config.ts'
import type { ChangeLog } from '../../storage/change-log.ts'
import { showChange } from '../change-line.ts'
import { type Command, type ExitCode, exitCode, Refusal, UsageError } from '../command.ts'
import { shown } from '../explain-import.ts'
import type { Screen } from '../screen.ts'
import { readSettings } from '../settings.ts'
import { stopSignal } from '../stop-signals.ts'
import { didYouMean } from '../suggest.ts'

/** Waking is a hint, so we look every so often without one. It also keeps the process alive. */
const lookMs = 1_000
/** Read and printed at a time. */
const batchRows = 500

export const log: Command = {
  name: 'log',
  summary: 'Print what happens to the records, whoever makes it happen.',
  options: ['config', 'database', 'since', 'model', 'once', 'json', 'verbose'],
  examples: [
    ['keelson log --model pet', 'every change to a pet from now on'],
    ['keelson log --once --json', 'what the log still holds, one JSON object a line'],
  ],

  async run(given, program): Promise<ExitCode> {
    const { screen } = program
    const stop = stopSignal()
    const [{ config }, { createService }] = await Promise.all([readSettings(given, program), program.load()])
    refuseMissing(config)
    // Reading must not change a schema, and serves nobody.
    const service = await createService({ ...config, migrate: 'safe', welcome: false })
    try {
      const { changes, models } = service
      const reader: Reader = { log: changes, models, screen, model: given.model && modelNamed(given.model, models) }
      const from = given.since ?? (given.once ? await changes.tail() : await changes.head())
      if (given.once) return await printOnce(reader, from)
      await follow(reader, from, stop)
      return exitCode.ok
    } finally {
      await service.close()
    }
  },
}

interface Reader {
  readonly log: ChangeLog
  readonly models: Models
  readonly screen: Screen
  readonly model: string | undefined
}

async function printOnce(reader: Reader, from: Position): Promise<ExitCode> {
  const { screen } = reader
  const end = await printAfter(from, reader)
  if (end === 'reset') {
    tellReset(from, screen)
    return exitCode.failure
  }
  screen.event({ event: 'end', position: end })
  screen.line(`\n  ${screen.paint('dim', `The end, for now. To go on from here: --since ${end}`)}\n`)
  return exitCode.ok
}

/** Prints what comes, until it is told to stop. */
async function follow(reader: Reader, from: Position, stop: Promise<unknown>): Promise<void> {
  const { log, screen } = reader
  let position = from
  let wake = Promise.withResolvers<void>()
  using _waking = log.onWake(() => wake.resolve())
  const looking = setInterval(() => wake.resolve(), lookMs)
  // Listening begins with this, so that nothing falls between it and the first line.
  screen.event({ event: 'following', position })
  screen.line(`  ${screen.paint('dim', `Waiting for changes since ${position}. Ctrl+C stops.`)}`)
  if (log.caveat !== undefined) screen.line(`  ${screen.paint('yellow', log.caveat)}`)
  const stopped = stop.then(() => 'stopped' as const)
  for (;;) {
    const end = await printAfter(position, reader)
    if (end === 'reset') tellReset(position, screen)
    position = end === 'reset' ? await log.head() : end
    if ((await Promise.race([wake.promise, stopped])) === 'stopped') break
    wake = Promise.withResolvers<void>()
  }
  clearInterval(looking)
}

/** Prints everything there is after a place and answers where it ended. */
async function printAfter(from: Position, { log, models, screen, model }: Reader): Promise<Position | 'reset'> {
  for (let position = from; ; ) {
    const batch = await log.read(position, batchRows)
    if (batch === 'reset') return 'reset'
    for (const change of batch.changes) {
      if (model === undefined || change.model === model) showChange(change, models, screen)
    }
    if (batch.position === position) return position
    position = batch.position
  }
}

function tellReset(position: Position, screen: Screen): void {
  screen.event({ event: 'reset', position })
  screen.line(`  ${screen.paint('yellow', 'reset')}  The log no longer holds ${position}: read the records afresh.`)
}

/** Reading makes no database. */
function refuseMissing({ database }: AnyConfig): void {
  const [, path] = /^sqlite:(.+)$/.exec(database ?? '') ?? []
  if (path === undefined || path === ':memory:' || existsSync(path)) return
  throw new Refusal(`There is no database ${shown(path)} yet: keelson start makes it`)
}

function modelNamed(name: string, models: Models): string {
  const names = [...models.keys()]
  const found = names.find((known) => known.toLowerCase() === name.toLowerCase())
  if (found !== undefined) return found
  throw new UsageError(
    `There is no model "${name}"`,
    didYouMean(name, names, (name) => `--model ${name}`),
  )
}
