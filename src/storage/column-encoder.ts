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

/** JSON objects of rows, each without its closing brace. */
export interface RowEncoder {
  encodeOpen(row: Row): string
  /** For these rows, one after another: the same texts in less time, where none of their values needs to be escaped. */
  encoderOf(rows: readonly Row[], from: number, to: number): (row: Row) => string
}

/** What JSON escapes, and everything beyond ASCII. */
const unusual = /[^ !#-[\]-~]/
/** What JSON escapes. V8 looks for up to 16 characters in many places at once, and for more in one place after another. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const escaped = [/["\\\0-\t\ud800-\udfff]/, /[\n-\x14]/, /[\x15-\x1f]/] as const
/** More characters of several rows are not joined to search them. */
const mostJoined = 65_536

/**
 * Encodes these columns. Compiled to functions from attribute names and the dialect's source fragments, never from client
 * input: a loop that looks up each column for each row takes most of the time of a list.
 */
export function compileColumns<A extends { readonly name: string }>(
  columns: readonly Column<A>[],
  dialect: ColumnDialect<A>,
): RowEncoder {
  const others = columns.map(
    ({ attribute }) =>
      (value: unknown) =>
        JSON.stringify(dialect.decode(attribute, value)),
  )
  const sources = columns.map(({ attribute }) => dialect.encoderSource(attribute) ?? 'other(v)')
  const encoder = (quote: (key: string, quotedKey: string) => string): ((row: Row) => string) => {
    const members = columns.map(({ attribute, index }, place) => {
      const name = `${place === 0 ? '' : ','}${JSON.stringify(attribute.name)}:`
      const key = JSON.stringify(name)
      const other = `others[${place}](v)`
      const source = sources[place] as string
      if (!isQuoted(source))
        return `text += ${key}; v = row[${index}]; text += v === null ? 'null' : ${source.replaceAll('other(v)', other)};`
      // The key is joined with the quote behind it: each part of a text takes time.
      const quoted = quote(key, JSON.stringify(`${name}"`))
      const text = source.replace(/(quote|other)\(v\)/g, (_, word) => (word === 'quote' ? quoted : `${key} + ${other}`))
      return `v = row[${index}]; text += v === null ? ${JSON.stringify(`${name}null`)} : ${text};`
    })
    const body = `return (row) => { let text = '{'; let v; ${members.join('\n')} return text; }`
    return new Function('unusual', 'others', body)(unusual, others)
  }
  // Most texts need nothing but the quotes, and to see that takes less time than `stringify` does.
  const encodeOpen = encoder(
    (key, quotedKey) => `(unusual.test(v) ? ${key} + JSON.stringify(v) : ${quotedKey} + v + '"')`,
  )
  const encodePlain = encoder((_, quotedKey) => `${quotedKey} + v + '"'`)
  const arePlain = compileCheck(columns.filter((_, place) => isQuoted(sources[place] as string)))
  return { encodeOpen, encoderOf: (rows, from, to) => (arePlain(rows, from, to) ? encodePlain : encodeOpen) }
}

const isQuoted = (source: string): boolean => source.includes('quote(v)')

/** Whether no text in these columns needs to be escaped. */
function compileCheck(
  columns: readonly Column<unknown>[],
): (rows: readonly Row[], from: number, to: number) => boolean {
  const texts = columns.map(({ index }) => ` + (typeof row[${index}] === 'string' ? row[${index}] : '')`)
  const body = `return (rows, from, to) => {
    let text = '';
    for (let index = from; index < to && text.length < ${mostJoined}; index++) { const row = rows[index]; text += ''${texts.join('')}; }
    return text.length < ${mostJoined}${escaped.map((_, place) => ` && !escaped[${place}].test(text)`).join('')};
  }`
  return new Function('escaped', body)(escaped)
}
