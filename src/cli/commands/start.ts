import { type Command, type ExitCode, exitCode } from '../command.ts'
import type { Given } from '../option.ts'
import type { Program } from '../program.ts'
import { progressLine } from '../progress-line.ts'
import { type Serving, serve } from '../serve.ts'
import { readSettings } from '../settings.ts'
import { stopSignal } from '../stop-signals.ts'
import { readyEvent, showReady } from '../summary.ts'
import { serveWithWorkers, workersOf } from '../workers/serve-with-workers.ts'

export const start: Command = {
  name: 'start',
  summary: 'Serve the models of a configuration.',
  options: ['config', 'port', 'host', 'database', 'workers', 'json', 'verbose'],
  examples: [
    ['keelson start --port 8080', 'serve what keelson.config.ts declares'],
    ['keelson start --workers 4', 'serve it with four processes'],
  ],

  async run(given, program): Promise<ExitCode> {
    const startedAt = performance.now()
    const { screen } = program
    const signal = stopSignal()
    const serving = await begin(given, program, startedAt)
    const stopped = signal.then(async (signal) => {
      screen.event({ event: 'stopping', signal })
      // The terminal shows ^C where the cursor is.
      screen.draw('')
      screen.line('  Stopping: requests under way may finish. Once more stops at once.')
      await serving.close()
    })

    const ready = await serving.ready
    if (ready !== 'stopped') {
      screen.event({ ...readyEvent(ready), pid: process.pid })
      showReady(ready, screen, 'Ctrl+C stops.')
    }
    await stopped
    screen.event({ event: 'stopped' })
    screen.line('  Stopped.')
    return exitCode.ok
  },
}

async function begin(given: Given, program: Program, startedAt: number): Promise<Serving> {
  const workers = workersOf(given)
  if (workers > 1) return serveWithWorkers(workers, given, program.screen, startedAt)
  const [settings, entry] = await Promise.all([readSettings(given, program), program.load()])
  return serve(settings, entry, progressLine('Seeding', program.screen), startedAt)
}
