import type { ExitCode } from './command.ts'
import type { PublicApi } from './command-context.ts'
import { runCommandLine } from './command-line.ts'
import { exitOnBrokenPipe } from './output.ts'
import { suppressWarnings } from './suppress-warnings.ts'

/** Prepares the process and runs the command line `keelson …args`. Resolves with the exit code. */
export function main(args: readonly string[], load: () => Promise<PublicApi>): Promise<ExitCode> {
  suppressWarnings()
  exitOnBrokenPipe()
  return runCommandLine(args, load)
}
