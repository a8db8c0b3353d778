/** JavaScript of plain values, in the style of the documentation. */

/** A string literal in single quotes. */
export function quoted(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${inner.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}'`
}

const propertyName = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name))

/** A value on one line, functions by their source. */
export function inline(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const members = Object.entries(value).map(([name, member]) => `${propertyName(name)}: ${inline(member)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

const maxWidth = 120

/** A member of an object, with its comma: on one line, or one line for each of its own members. */
export function member(name: string, value: unknown, indent: string): readonly string[] {
  const line = `${indent}${propertyName(name)}: ${inline(value)},`
  if (line.length <= maxWidth || typeof value !== 'object' || value === null || Array.isArray(value)) return [line]
  const members = Object.entries(value).flatMap(([name, of]) => member(name, of, `${indent}  `))
  return [`${indent}${propertyName(name)}: {`, ...members, `${indent}},`]
}

/** Text of a database on one line: a line break would end the comment, and other control characters steer a terminal. */
export const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')

/** Comment lines of at most the width of the file. */
export function comment(text: string, indent: string): readonly string[] {
  const lines: string[] = []
  for (const word of oneLine(text).split(' ')) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + word.length < maxWidth) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(`${indent}// ${word}`)
  }
  return lines
}
