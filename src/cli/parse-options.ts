import { parseArgs } from 'node:util'
import { type Command, UsageError } from './command.ts'
import { type Given, type Option, type OptionName, optionTable } from './option.ts'
import { didYouMean } from './suggest.ts'

/** What was said behind the command's name. Throws a UsageError for everything that is not meant for it. */
export function parseOptions(args: readonly string[], command: Command): Given {
  const names: readonly OptionName[] = [...command.options, 'help']
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(names.map((name) => [name, typeOf(optionTable[name])])),
    strict: false, // the messages are ours
    tokens: true,
  })
  const given: Record<string, string | boolean> = {}
  for (const token of tokens) {
    if (token.kind === 'positional') throw new UsageError(`"${token.value}" is not expected behind "${command.name}"`)
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    if (!isOneOf(names, name)) throw unknownOption(rawName, name, names, command)
    const { takes }: Option = optionTable[name]
    if (takes === undefined) {
      if (value !== undefined) throw new UsageError(`${rawName} is a switch and takes no value`)
      given[name] = true
    } else {
      const isMissing = value === undefined || value === '' || (!inlineValue && value.startsWith('--'))
      if (isMissing) throw new UsageError(`${rawName} needs a value: ${rawName} ${takes}`)
      given[name] = value
    }
  }
  return given as Given
}

const typeOf = ({ takes, short }: Option) => ({
  type: takes === undefined ? ('boolean' as const) : ('string' as const),
  ...(short !== undefined && { short }),
})

const isOneOf = (names: readonly OptionName[], name: string): name is OptionName =>
  (names as readonly string[]).includes(name)

function unknownOption(rawName: string, name: string, names: readonly string[], command: Command): UsageError {
  const otherwise = `keelson ${command.name} --help shows its options.`
  return new UsageError(
    `"${command.name}" has no option ${rawName}`,
    didYouMean(name, names, (name) => `--${name}`, otherwise),
  )
}
