import type { Command } from './command.ts'
import { access } from './commands/access.ts'
import { dev } from './commands/dev.ts'
import { init } from './commands/init.ts'
import { jobs } from './commands/jobs.ts'
import { log } from './commands/log.ts'
import { routes } from './commands/routes.ts'
import { start } from './commands/start.ts'
import { worker } from './commands/worker.ts'

/** All commands, in the order of the help text. */
export const commands: readonly Command[] = [start, dev, routes, access, jobs, log, init, worker]
