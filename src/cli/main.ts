import { type Command, type ExitCode, exitCode, UsageError } from './command.ts'
import { commands } from './commands.ts'
import { explain } from './explain.ts'
import { helpOf, overview } from './help.ts'
import type { Given } from './option.ts'
import { version } from './own-package.ts'
import { parseOptions } from './parse-options.ts'
import type { PublicEntry } from './program.ts'
import { quietWarnings } from './quiet-warnings.ts'
import { createScreen, endWithTheReader, type Screen } from './screen.ts'
import { didYouMean } from './suggest.ts'

/** The program: what stands behind `keelson` on the command line, to its exit code. */
export async function main(args: readonly string[], load: () => Promise<PublicEntry>): Promise<ExitCode> {
  quietWarnings()
  endWithTheReader()
  const screen = createScreen(args.includes('--json'))
  const isVerbose = args.includes('--verbose')
  try {
    const [name, ...rest] = args
    if (name === undefined || name === '--help' || name === '-h' || name === 'help') return print(overviewOf(screen))
    if (name === '--version' || name === '-v') return print(version())
    const command = commandOf(name)
    const given = parseOptions(rest, command)
    if (given.help) return print(helpOf(command, screen))
    return await run(command, given, screen, load)
  } catch (error) {
    return tell(error, screen, isVerbose)
  }
}

const overviewOf = (screen: Screen): string => overview(commands, version(), screen)

function print(text: string): ExitCode {
  process.stdout.write(`${text}\n`)
  return exitCode.ok
}

function commandOf(name: string): Command {
  const command = commands.find((command) => command.name === name)
  if (command) return command
  if (name.startsWith('-')) throw new UsageError(`A command must come before ${name}: keelson start ${name}`)
  const names = commands.filter(({ isInternal }) => !isInternal).map((command) => command.name)
  const advice = didYouMean(name, names, (name) => `keelson ${name}`, 'keelson --help shows what there is.')
  throw new UsageError(`There is no command "${name}"`, advice)
}

const run = (command: Command, given: Given, screen: Screen, load: () => Promise<PublicEntry>): Promise<ExitCode> =>
  command.run(given, { screen, load, env: process.env, cwd: process.cwd() })

function tell(error: unknown, screen: Screen, isVerbose: boolean): ExitCode {
  const { message, problems, advice, code } = explain(error)
  screen.event({ event: 'error', message, problems, exitCode: code })
  if (!screen.isJson) {
    screen.complain(`\n  ${screen.paint('red', '✗')} ${message}`)
    for (const problem of problems) screen.complain(`    ${problem.replaceAll('\n', '\n      ')}`)
    if (advice !== undefined) screen.complain(`\n  ${screen.paint('dim', advice)}`)
    screen.complain('')
  }
  if (isVerbose && error instanceof Error) screen.complain(error.stack ?? '')
  return code
}
