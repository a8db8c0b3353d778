import type { Command } from './command.ts'
import { dev } from './commands/dev.ts'
import { init } from './commands/init.ts'
import { log } from './commands/log.ts'
import { routes } from './commands/routes.ts'
import { start } from './commands/start.ts'
import { worker } from './commands/worker.ts'

/** Everything the program can do, in the order of the help. */
export const commands: readonly Command[] = [start, dev, routes, log, init, worker]
