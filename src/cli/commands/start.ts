import { type Command, type ExitCode, exitCode } from '../command.ts'
import { progressLine } from '../progress-line.ts'
import { serve } from '../serve.ts'
import { readSettings } from '../settings.ts'
import { stopSignal } from '../stop-signals.ts'
import { readyEvent, showReady } from '../summary.ts'

export const start: Command = {
  name: 'start',
  summary: 'Serve the models of a configuration.',
  options: ['config', 'port', 'host', 'database', 'json', 'verbose'],
  examples: [
    ['keelson start --port 8080', 'serve what keelson.config.ts declares'],
    ['keelson start --database sqlite:other.db', 'serve it from another database'],
  ],

  async run(given, program): Promise<ExitCode> {
    const startedAt = performance.now()
    const { screen } = program
    const signal = stopSignal()
    const [settings, entry] = await Promise.all([readSettings(given, program), program.load()])
    const serving = serve(settings, entry, progressLine('Seeding', screen), startedAt)
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
