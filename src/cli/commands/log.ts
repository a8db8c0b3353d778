import type { Models } from '../../model/model.ts'
import type { Position } from '../../protocol/change.ts'
import type { ChangeLog } from '../../storage/change-log.ts'
import { printChange } from '../change-line.ts'
import { type Command, type ExitCode, exitCode } from '../command.ts'
import { modelNamed } from '../model-named.ts'
import { openForInspection } from '../open-for-inspection.ts'
import type { Output } from '../output.ts'
import { stopSignal } from '../stop-signals.ts'

/** A notification may be missing, so the log is also polled. The timer keeps the process alive. */
const pollIntervalMs = 1_000
/** Changes that are read and printed at once. */
const batchRows = 500

export const log: Command = {
  name: 'log',
  summary: 'Print the change log: every change of a record, also by other programs.',
  options: ['config', 'database', 'since', 'model', 'once', 'json', 'verbose'],
  examples: [
    ['keelson log --model pet', 'every change of a pet from now on'],
    ['keelson log --once --json', 'the current content of the log, one JSON object per line'],
  ],

  async run(options, context): Promise<ExitCode> {
    const { output } = context
    const stop = stopSignal()
    const service = await openForInspection(options, context)
    try {
      const { changes, models } = service
      const reader: Reader = {
        log: changes,
        models,
        output,
        model: options.model && modelNamed(options.model, models.keys(), (name) => name),
      }
      const from = options.since ?? (options.once ? await changes.tail() : await changes.head())
      if (options.once) return await printOnce(reader, from)
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
  readonly output: Output
  readonly model: string | undefined
}

async function printOnce(reader: Reader, from: Position): Promise<ExitCode> {
  const { output } = reader
  const end = await printAfter(from, reader)
  if (end === 'reset') {
    printReset(from, output)
    return exitCode.failure
  }
  output.event({ event: 'end', position: end })
  output.line(`\n  ${output.paint('dim', `End of the log. To continue from here: --since ${end}`)}\n`)
  return exitCode.ok
}

/** Prints new changes until `stop` resolves. */
async function follow(reader: Reader, from: Position, stop: Promise<unknown>): Promise<void> {
  const { log, output } = reader
  let position = from
  let changed = Promise.withResolvers<void>()
  using _subscription = log.onChange(() => changed.resolve())
  const polling = setInterval(() => changed.resolve(), pollIntervalMs)
  // Printed after subscribing, so that every change after this line is printed.
  output.event({ event: 'following', position })
  output.line(`  ${output.paint('dim', `Waiting for changes since ${position}. Press Ctrl+C to stop.`)}`)
  if (log.limitation !== undefined) output.line(`  ${output.paint('yellow', log.limitation)}`)
  const stopped = stop.then(() => 'stopped' as const)
  for (;;) {
    const end = await printAfter(position, reader)
    if (end === 'reset') {
      // Read before the line is printed, so that every change after the line is printed.
      const head = await log.head()
      printReset(position, output)
      position = head
    } else {
      position = end
    }
    if ((await Promise.race([changed.promise, stopped])) === 'stopped') break
    changed = Promise.withResolvers<void>()
  }
  clearInterval(polling)
}

/** Prints all changes after a position and returns the position of the last one. */
async function printAfter(from: Position, { log, models, output, model }: Reader): Promise<Position | 'reset'> {
  for (let position = from; ; ) {
    const batch = await log.read(position, batchRows)
    if (batch === 'reset') return 'reset'
    for (const change of batch.changes) {
      if (model === undefined || change.model === model) printChange(change, models, output)
    }
    if (batch.position === position) return position
    position = batch.position
  }
}

function printReset(position: Position, output: Output): void {
  output.event({ event: 'reset', position })
  output.line(
    `  ${output.paint('yellow', 'reset')}  The log does not contain the position ${position}: changes may be missing.`,
  )
}
