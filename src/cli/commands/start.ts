import { type Command, type ExitCode, exitCode } from '../command.ts'
import type { CommandContext } from '../command-context.ts'
import type { OptionValues } from '../option.ts'
import { progressLine } from '../progress-line.ts'
import { type StartingService, serve } from '../serve.ts'
import { readSettings } from '../settings.ts'
import { stopSignal } from '../stop-signals.ts'
import { printSummary, readyEvent } from '../summary.ts'
import { serveWithWorkers, workerCount } from '../workers/serve-with-workers.ts'

export const start: Command = {
  name: 'start',
  summary: 'Serve the models of a configuration.',
  options: ['config', 'port', 'host', 'database', 'workers', 'log', 'json', 'verbose'],
  examples: [
    ['keelson start --port 8080', 'serve the models of keelson.config.ts on port 8080'],
    ['keelson start --workers 4', 'use four processes'],
  ],

  async run(options, context): Promise<ExitCode> {
    const startedAt = performance.now()
    const { output } = context
    const signal = stopSignal()
    const serving = await begin(options, context, startedAt)
    const stopped = signal.then(async (signal) => {
      output.event({ event: 'stopping', signal })
      // Clears the ^C that the terminal prints.
      output.draw('')
      output.line('  Stopping: open requests are completed. A second Ctrl+C stops immediately.')
      await serving.close()
    })

    const ready = await serving.ready
    if (ready !== 'stopped') {
      output.event({ ...readyEvent(ready), pid: process.pid })
      printSummary(ready, output, 'Press Ctrl+C to stop.')
    }
    await stopped
    output.event({ event: 'stopped' })
    output.line('  Stopped.')
    return exitCode.ok
  },
}

async function begin(options: OptionValues, context: CommandContext, startedAt: number): Promise<StartingService> {
  const workers = workerCount(options)
  if (workers > 1) return serveWithWorkers(workers, options, context.output, startedAt)
  // Not at the same time: a CommonJS configuration cannot require a module that is being imported.
  const settings = await readSettings(options, context)
  return serve(settings, await context.load(), progressLine('Seeding', context.output), startedAt)
}
