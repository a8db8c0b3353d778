import { UsageError } from './command.ts'
import { didYouMean } from './suggest.ts'

/**
 * The item of the model with this name, in upper or lower case. Throws a UsageError for an unknown model; `format` makes the
 * part of the command line that it suggests.
 */
export function modelNamed<T>(
  name: string,
  items: Iterable<T>,
  nameOf: (item: T) => string,
  format = (near: string) => `--model ${near}`,
): T {
  const all = [...items]
  const found = all.find((item) => nameOf(item).toLowerCase() === name.toLowerCase())
  if (found !== undefined) return found
  const names = all.map(nameOf)
  throw new UsageError(`Unknown model "${name}"`, didYouMean(name, names, format, `Models: ${listed(names)}`))
}

/** More names than this are no help on one line. */
const maxListed = 20

function listed(names: readonly string[]): string {
  const shown = names.slice(0, maxListed).join(', ')
  return names.length > maxListed ? `${shown} and ${names.length - maxListed} more` : shown
}
