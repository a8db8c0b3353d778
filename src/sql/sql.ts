/**
 * SQL text with its bound values. `parts` has one more item than `values`; each value stands between two parts, and its
 * placeholder is written when the statement is rendered.
 */
export interface Sql {
  readonly parts: readonly string[]
  readonly values: readonly unknown[]
}

const isSql = (value: unknown): value is Sql => typeof value === 'object' && value !== null && 'parts' in value

/** Trusted text: keywords and quoted identifiers. Never client input. */
export const raw = (text: string): Sql => ({ parts: [text], values: [] })

export const bound = (value: unknown): Sql => ({ parts: ['', ''], values: [value] })

/** A statement or a fragment. `${}` takes a fragment or a value to bind. */
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

/** Appends `piece` and returns the text after its last value. */
function take(piece: Sql, open: string, parts: string[], values: unknown[]): string {
  const last = piece.parts.length - 1
  if (last === 0) return open + piece.parts[0]
  parts.push(open + piece.parts[0])
  for (let index = 1; index < last; index++) parts.push(piece.parts[index] as string)
  for (const value of piece.values) values.push(value)
  return piece.parts[last] as string
}

/** The text of the statement with a placeholder for each value. `placeholder` receives its number, counted from 1. */
export function textOf(statement: Sql, placeholder: string | ((number: number) => string)): string {
  const { parts } = statement
  if (typeof placeholder === 'string') return parts.length === 1 ? (parts[0] as string) : parts.join(placeholder)
  let text = parts[0] as string
  for (let index = 1; index < parts.length; index++) text += placeholder(index) + parts[index]
  return text
}
