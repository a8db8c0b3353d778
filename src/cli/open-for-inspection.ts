import { assertDatabaseExists } from './assert-database-exists.ts'
import type { CommandContext, RunningService } from './command-context.ts'
import type { OptionValues } from './option.ts'
import { readSettings } from './settings.ts'

/**
 * Opens the service of the configuration beside those that serve it. Neither the schema is changed nor a job is run, and the lock of
 * the only writer is not taken. Throws a CommandError where there is no database.
 */
export async function openForInspection(options: OptionValues, context: CommandContext): Promise<RunningService> {
  const { config } = await readSettings(options, context)
  const { createService } = await context.load()
  assertDatabaseExists(config)
  return createService({ ...config, migrate: 'safe', cache: false, landingPage: false, runJobs: false })
}
