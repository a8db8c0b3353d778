import { dirname } from 'node:path'
import { type Command, type ExitCode, exitCode } from '../command.ts'
import { DevOutput } from '../dev/dev-output.ts'
import { DevServer } from '../dev/dev-server.ts'
import { SourceWatch } from '../dev/source-watch.ts'
import { findConfig } from '../load-config.ts'
import { stopSignal } from '../stop-signals.ts'

export const dev: Command = {
  name: 'dev',
  summary: 'Serve the models and restart when the configuration or a model changes.',
  options: ['config', 'port', 'host', 'database', 'log', 'json', 'verbose'],
  examples: [
    ['keelson dev', 'serve keelson.config.ts and restart on changes'],
    ['keelson dev --database sqlite::memory:', 'with an in-memory database, empty at every restart'],
  ],

  async run(options, { output, cwd }): Promise<ExitCode> {
    const stopped = stopSignal()
    const file = findConfig(options.config, cwd)
    const watch = new SourceWatch(dirname(file))
    const server = new DevServer({ ...options, config: file }, watch, new DevOutput(output, dirname(file)))
    try {
      await server.run(stopped)
    } finally {
      watch.close()
      await server.stop()
    }
    output.event({ event: 'stopped' })
    output.line('\n  Stopped.')
    return exitCode.ok
  },
}
