import { dirname } from 'node:path'
import { type Command, type ExitCode, exitCode } from '../command.ts'
import { DevScreen } from '../dev/dev-screen.ts'
import { SourceWatch } from '../dev/source-watch.ts'
import { Supervisor } from '../dev/supervisor.ts'
import { findConfig } from '../load-config.ts'
import { stopSignal } from '../stop-signals.ts'

export const dev: Command = {
  name: 'dev',
  summary: 'Serve, and start afresh whenever the configuration or a model changes.',
  options: ['config', 'port', 'host', 'database', 'json', 'verbose'],
  examples: [
    ['keelson dev', 'serve keelson.config.ts and follow its changes'],
    ['keelson dev --database sqlite::memory:', 'with a database that begins empty every time'],
  ],

  async run(given, { screen, cwd, env }): Promise<ExitCode> {
    const stopped = stopSignal()
    const file = findConfig(given.config, cwd)
    const said = { ...given, config: file }
    const watch = new SourceWatch(dirname(file))
    const supervisor = new Supervisor(said, env, watch, new DevScreen(screen, dirname(file)))
    try {
      await supervisor.run(stopped)
    } finally {
      watch.close()
      await supervisor.stop()
    }
    screen.event({ event: 'stopped' })
    screen.line('\n  Stopped.')
    return exitCode.ok
  },
}
