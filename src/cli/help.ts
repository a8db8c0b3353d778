import { type Command, type ExitCode, exitCode } from './command.ts'
import { type Option, type OptionName, optionTable } from './option.ts'
import type { Screen } from './screen.ts'

/** What the program can do. */
export function overview(commands: readonly Command[], version: string, screen: Screen): string {
  const { paint } = screen
  const listed = commands.filter(({ isInternal }) => !isInternal)
  return [
    '',
    `  ${paint('bold', 'keelson')} ${paint('dim', version)}   Models in, a data service out.`,
    '',
    `  ${paint('dim', 'Usage')}   keelson COMMAND [OPTIONS]`,
    '',
    ...table(listed.map(({ name, summary }) => [paint('cyan', name), name.length, summary])),
    '',
    `  ${paint('dim', 'keelson COMMAND --help shows the options of a command, keelson --version the version.')}`,
    '',
  ].join('\n')
}

/** What a command does, what can be said to it, and how that is written. */
export function helpOf(command: Command, screen: Screen): string {
  const { paint } = screen
  return [
    '',
    `  ${paint('bold', `keelson ${command.name}`)}   ${command.summary}`,
    '',
    ...table([...command.options, 'help' as const].map((name) => optionRow(name, screen))),
    '',
    `  ${paint('dim', 'Examples')}`,
    ...table(command.examples.map(([line, does]) => [paint('cyan', line), line.length, paint('dim', does)])),
    '',
    `  ${paint('dim', `Ends with ${endings}.`)}`,
    '',
  ].join('\n')
}

const meanings: Readonly<Record<ExitCode, string>> = {
  [exitCode.ok]: 'when all is well',
  [exitCode.failure]: 'after a failure',
  [exitCode.wrongUsage]: 'for a wrong command line',
  [exitCode.wrongConfig]: 'for a wrong configuration',
}
const endings = Object.entries(meanings)
  .map(([code, meaning]) => `${code} ${meaning}`)
  .join(', ')

type Row = readonly [painted: string, width: number, text: string]

function optionRow(name: OptionName, { paint }: Screen): Row {
  const { short, takes, text }: Option = optionTable[name]
  const spelled = `${short === undefined ? '    ' : `-${short}, `}--${name}`
  const value = takes === undefined ? '' : ` ${takes}`
  return [`${paint('cyan', spelled)}${paint('dim', value)}`, spelled.length + value.length, text]
}

function table(rows: readonly Row[]): string[] {
  const widest = Math.max(...rows.map(([, width]) => width))
  return rows.map(([painted, width, text]) => `    ${painted}${' '.repeat(widest - width + 3)}${text}`)
}
