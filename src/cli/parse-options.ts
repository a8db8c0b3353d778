import { parseArgs } from 'node:util'
import { type Command, UsageError } from './command.ts'
import { type Option, type OptionName, type OptionValues, optionTable } from './option.ts'
import { didYouMean } from './suggest.ts'

/** Parses the arguments after the command's name. Throws a UsageError for an unknown option and a missing value. */
export function parseOptions(args: readonly string[], command: Command): OptionValues {
  const names: readonly OptionName[] = [...command.options, 'help']
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(names.map((name) => [name, typeOf(optionTable[name])])),
    strict: false, // the messages of strict mode name no alternatives
    tokens: true,
  })
  const options: Record<string, string | boolean> = {}
  for (const token of tokens) {
    if (token.kind === 'positional') {
      const argument = command.arguments?.find((name) => !(name in options))
      if (argument === undefined) throw unexpectedArgument(token.value, command)
      options[argument] = token.value
      continue
    }
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    if (!isOneOf(names, name)) throw unknownOption(rawName, name, names, command)
    const { valueName }: Option = optionTable[name]
    if (valueName === undefined) {
      if (value !== undefined) throw new UsageError(`${rawName} is a switch and takes no value`)
      options[name] = true
    } else {
      const isMissing = value === undefined || value === '' || (!inlineValue && value.startsWith('--'))
      if (isMissing) throw new UsageError(`${rawName} needs a value: ${rawName} ${valueName}`)
      options[name] = value
    }
  }
  return options as OptionValues
}

const typeOf = ({ valueName, short }: Option) => ({
  type: valueName === undefined ? ('boolean' as const) : ('string' as const),
  ...(short !== undefined && { short }),
})

const isOneOf = (names: readonly OptionName[], name: string): name is OptionName =>
  (names as readonly string[]).includes(name)

/** The options that an argument without a name may be meant for, by the form of their values. */
const argumentForms = { config: /\.[cm]?[jt]s$/, database: /^\w+:/, port: /^\d+$/ } as const

function unexpectedArgument(value: string, command: Command): UsageError {
  const meant = (['config', 'database', 'port'] as const).find(
    (name) => command.options.includes(name) && argumentForms[name].test(value),
  )
  return new UsageError(
    `Unexpected argument "${value}" after "${command.name}"`,
    meant === undefined ? undefined : `Did you mean --${meant} ${value}?`,
  )
}

function unknownOption(rawName: string, name: string, names: readonly string[], command: Command): UsageError {
  const otherwise = `keelson ${command.name} --help lists its options.`
  return new UsageError(
    `"${command.name}" has no option ${rawName}`,
    didYouMean(name, names, (name) => `--${name}`, otherwise),
  )
}
