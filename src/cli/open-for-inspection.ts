import { assertDatabaseExists } from './assert-database-exists.ts'
import type { CommandContext, RunningService } from './command-context.ts'
import type { OptionValues } from './option.ts'
import { readSettings } from './settings.ts'

/**
 * Opens the service of the configuration while other processes may serve it: the schema is not changed, no job is run, and the
 * lock of the only writer (`writers: 'self'`) is not taken. Throws a CommandError if the database does not exist.
 */
export async function openForInspection(options: OptionValues, context: CommandContext): Promise<RunningService> {
  const { config } = await readSettings(options, context)
  const { createService } = await context.load()
  assertDatabaseExists(config)
  return createService({ ...config, migrate: 'safe', cache: false, landingPage: false, runJobs: false })
}
