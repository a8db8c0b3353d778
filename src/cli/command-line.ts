import { type Command, type ExitCode, exitCode, UsageError } from './command.ts'
import type { PublicApi } from './command-context.ts'
import { commands } from './commands.ts'
import { reportOf } from './error-report.ts'
import { helpOf, overview } from './help.ts'
import type { OptionValues } from './option.ts'
import { createOutput, type Output, type OutputStreams } from './output.ts'
import { version } from './own-package.ts'
import { parseOptions } from './parse-options.ts'
import { didYouMean } from './suggest.ts'

/** Parses `args`, runs the command and prints its error. Resolves with the exit code; never rejects. */
export async function runCommandLine(
  args: readonly string[],
  load: () => Promise<PublicApi>,
  streams: OutputStreams = process,
): Promise<ExitCode> {
  const output = createOutput(args.includes('--json'), streams)
  const print = (text: string): ExitCode => {
    streams.stdout.write(`${text}\n`)
    return exitCode.ok
  }
  try {
    const [name, ...rest] = args
    if (name === 'help' && rest[0] !== undefined) return print(helpOf(commandOf(rest[0]), output))
    if (name === undefined || name === '--help' || name === '-h' || name === 'help') return print(overviewOf(output))
    if (name === '--version' || name === '-v') return print(version())
    const command = commandOf(name)
    const options = parseOptions(rest, command)
    if (options.help) return print(helpOf(command, output))
    return await run(command, options, output, load)
  } catch (error) {
    return printError(error, output, args.includes('--verbose'))
  }
}

const overviewOf = (output: Output): string => overview(commands, version(), output)

const toServe = 'keelson start serves the models, and keelson dev restarts on changes.'
const toMigrate = `There is no such step: keelson start and keelson dev create the tables and columns that are missing. \`migrate\` of the configuration says what they may do.`

/** Advice for commands of other programs: what replaces each of them here. */
const replacements: Readonly<Record<string, string>> = {
  serve: toServe,
  run: toServe,
  server: toServe,
  lift: toServe,
  migrate: toMigrate,
  migration: toMigrate,
  push: toMigrate,
  generate: 'There is no such step: types are inferred from the models.',
  build: 'There is no such step: Node runs the configuration as it is. keelson start serves it.',
  new: 'keelson init creates a project.',
  create: 'keelson init creates a project.',
  console:
    'A program with createService has the records as objects: see "Service in your own process" of the documentation.',
}

function commandOf(name: string): Command {
  const command = commands.find((command) => command.name === name)
  if (command) return command
  if (name.startsWith('-')) throw new UsageError(`Missing command before ${name}: keelson start ${name}`)
  const replacement = Object.hasOwn(replacements, name) ? replacements[name] : undefined
  if (replacement !== undefined) throw new UsageError(`Unknown command "${name}"`, replacement)
  const names = commands.filter(({ isInternal }) => !isInternal).map((command) => command.name)
  const advice = didYouMean(name, names, (name) => `keelson ${name}`, 'keelson --help lists the commands.')
  throw new UsageError(`Unknown command "${name}"`, advice)
}

const run = (
  command: Command,
  options: OptionValues,
  output: Output,
  load: () => Promise<PublicApi>,
): Promise<ExitCode> => command.run(options, { output, load, env: process.env, cwd: process.cwd() })

function printError(error: unknown, output: Output, isVerbose: boolean): ExitCode {
  const { message, problems, advice, code } = reportOf(error)
  output.event({ event: 'error', message, problems, exitCode: code })
  if (!output.isJson) {
    output.error(`\n  ${output.paint('red', '✗')} ${message}`)
    for (const problem of problems) output.error(`    ${problem.replaceAll('\n', '\n      ')}`)
    if (advice !== undefined) output.error(`\n  ${output.paint('dim', advice)}`)
    output.error('')
  }
  if (isVerbose && error instanceof Error) output.error(error.stack ?? '')
  return code
}
