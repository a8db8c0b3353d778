import { type Command, type ExitCode, exitCode } from './command.ts'
import { type Option, type OptionName, optionTable } from './option.ts'
import type { Output } from './output.ts'

/** The help text of the program: all commands. */
export function overview(commands: readonly Command[], version: string, output: Output): string {
  const { paint } = output
  const listed = commands.filter(({ isInternal }) => !isInternal)
  return [
    '',
    `  ${paint('bold', 'keelson')} ${paint('dim', version)}   A data service for Node: declared models over REST and WebSockets.`,
    '',
    `  ${paint('dim', 'Usage')}   keelson COMMAND [OPTIONS]`,
    '',
    ...table(listed.map(({ name, summary }) => [paint('cyan', name), name.length, summary])),
    '',
    `  ${paint('dim', 'keelson COMMAND --help prints the options of a command, keelson --version the version.')}`,
    '',
  ].join('\n')
}

/** The help text of a command: its options, examples and exit codes. */
export function helpOf(command: Command, output: Output): string {
  const { paint } = output
  return [
    '',
    `  ${paint('bold', `keelson ${command.name}`)}   ${command.summary}`,
    '',
    ...table([...command.options, 'help' as const].map((name) => optionRow(name, output))),
    '',
    `  ${paint('dim', 'Examples')}`,
    ...table(command.examples.map(([line, does]) => [paint('cyan', line), line.length, paint('dim', does)])),
    '',
    `  ${paint('dim', `Exit codes: ${exitCodes}.`)}`,
    '',
  ].join('\n')
}

const meanings: Readonly<Record<ExitCode, string>> = {
  [exitCode.ok]: 'success',
  [exitCode.failure]: 'failure',
  [exitCode.wrongUsage]: 'wrong command line',
  [exitCode.wrongConfig]: 'wrong configuration',
}
const exitCodes = Object.entries(meanings)
  .map(([code, meaning]) => `${code} ${meaning}`)
  .join(', ')

type Row = readonly [painted: string, width: number, text: string]

function optionRow(name: OptionName, { paint }: Output): Row {
  const { short, valueName, text }: Option = optionTable[name]
  const spelled = `${short === undefined ? '    ' : `-${short}, `}--${name}`
  const value = valueName === undefined ? '' : ` ${valueName}`
  return [`${paint('cyan', spelled)}${paint('dim', value)}`, spelled.length + value.length, text]
}

function table(rows: readonly Row[]): string[] {
  const widest = Math.max(...rows.map(([, width]) => width))
  return rows.map(([painted, width, text]) => `    ${painted}${' '.repeat(widest - width + 3)}${text}`)
}
