import type { Json } from '../protocol/json.ts'
import type { Row } from './driver.ts'

/** An attribute and the place of its value in a row. */
export interface Column<A> {
  readonly attribute: A
  readonly index: number
}

/** The part of a dialect that encoders are compiled from. */
export interface ColumnDialect<A> {
  encoderSource(attribute: A): string | undefined
  decode(attribute: A, value: unknown): Json
}

/** What JSON escapes, and everything beyond ASCII. */
const unusual = /[^ !#-[\]-~]/

/** The source of `quote(v)`. Most texts need nothing but the quotes, and to see that takes less time than `stringify` does. */
const quotedText = `(unusual.test(v) ? JSON.stringify(v) : '"' + v + '"')`

/**
 * A JSON object of these columns, without its closing brace. Compiled to a function from attribute names and the dialect's
 * source fragments, never from client input: a loop that looks up each column for each row takes most of the time of a list.
 */
export function compileColumns<A extends { readonly name: string }>(
  columns: readonly Column<A>[],
  dialect: ColumnDialect<A>,
): (row: Row) => string {
  const others = columns.map(
    ({ attribute }) =>
      (value: unknown) =>
        JSON.stringify(dialect.decode(attribute, value)),
  )
  const members = columns.map(({ attribute, index }, place) => {
    const other = `others[${place}](v)`
    const source =
      dialect.encoderSource(attribute)?.replaceAll('other(v)', other).replaceAll('quote(v)', quotedText) ?? other
    const key = JSON.stringify(`${place === 0 ? '' : ','}${JSON.stringify(attribute.name)}:`)
    return `text += ${key}; v = row[${index}]; text += v === null ? 'null' : ${source};`
  })
  const body = `return (row) => { let text = '{'; let v; ${members.join('\n')} return text; }`
  return new Function('unusual', 'others', body)(unusual, others)
}
