/**
 * SQL as text and values that never travel apart. `parts` has one more item than `values`; a value stands between two
 * parts, and its placeholder is written only when a dialect renders the whole.
 */
export interface Sql {
  readonly parts: readonly string[]
  readonly values: readonly unknown[]
}

const isSql = (value: unknown): value is Sql => typeof value === 'object' && value !== null && 'parts' in value

/** Text written by us: keywords, and identifiers that a dialect has quoted. Nothing from outside. */
export const raw = (text: string): Sql => ({ parts: [text], values: [] })

export const bound = (value: unknown): Sql => ({ parts: ['', ''], values: [value] })

/** A statement or a piece of one. What stands in `${}` is a piece of SQL, or a value to be bound. */
export function sql(strings: TemplateStringsArray, ...items: readonly unknown[]): Sql {
  const parts: string[] = []
  const values: unknown[] = []
  let open = strings[0] as string
  for (let index = 0; index < items.length; index++) {
    const item = items[index]
    const rest = strings[index + 1] as string
    if (isSql(item)) {
      open = take(item, open, parts, values) + rest
    } else {
      parts.push(open)
      values.push(item)
      open = rest
    }
  }
  parts.push(open)
  return { parts, values }
}

export function join(pieces: readonly Sql[], separator: string): Sql {
  const parts: string[] = []
  const values: unknown[] = []
  let open = ''
  for (let index = 0; index < pieces.length; index++) {
    if (index > 0) open += separator
    open = take(pieces[index] as Sql, open, parts, values)
  }
  parts.push(open)
  return { parts, values }
}

/** Appends `piece` to what was written so far and returns the text that is still open. */
function take(piece: Sql, open: string, parts: string[], values: unknown[]): string {
  const last = piece.parts.length - 1
  if (last === 0) return open + piece.parts[0]
  parts.push(open + piece.parts[0])
  for (let index = 1; index < last; index++) parts.push(piece.parts[index] as string)
  for (const value of piece.values) values.push(value)
  return piece.parts[last] as string
}

/** The statement's text, with a placeholder for each value. `placeholder` is told its number, counted from 1. */
export function textOf(statement: Sql, placeholder: string | ((number: number) => string)): string {
  const { parts } = statement
  if (typeof placeholder === 'string') return parts.length === 1 ? (parts[0] as string) : parts.join(placeholder)
  let text = parts[0] as string
  for (let index = 1; index < parts.length; index++) text += placeholder(index) + parts[index]
  return text
}
