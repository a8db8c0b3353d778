import type { Selection } from '../criteria/criteria.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { Dialect } from '../sql/dialect.ts'
import type { Row } from './driver.ts'

/** Turns the rows of one selection into JSON text, or into objects. */
export interface Encoder {
  /** Without the last brace, so that members can follow. */
  encodeOpen(row: Row): string
  decode(row: Row): JsonObject
}

/**
 * Compiled from the names of the attributes and the dialect's own pieces of source; never from anything a client sent.
 * A loop over the columns would look each of them up again for every row, and a list of records is mostly this.
 * Attributes in `without` are in the rows and not in what becomes of them.
 */
export function compileEncoder(selection: Selection, dialect: Dialect, without: ReadonlySet<string>): Encoder {
  const quote = JSON.stringify
  const others = selection.map((attribute) => (value: unknown) => JSON.stringify(dialect.decode(attribute, value)))
  const shown = selection.flatMap((attribute, index) => (without.has(attribute.name) ? [] : [{ attribute, index }]))
  const members = shown.map(({ attribute, index }, place) => {
    const other = `others[${index}](v)`
    const source = dialect.encoderSource(attribute)?.replaceAll('other(v)', other) ?? other
    const key = JSON.stringify(`${place === 0 ? '' : ','}${JSON.stringify(attribute.name)}:`)
    return `text += ${key}; v = row[${index}]; text += v === null ? 'null' : ${source};`
  })
  const body = `return (row) => { let text = '{'; let v; ${members.join('\n')} return text; }`
  const encodeOpen = new Function('quote', 'others', body)(quote, others) as (row: Row) => string
  return {
    encodeOpen,
    decode(row) {
      const record: Record<string, Json> = {}
      for (const { attribute, index } of shown) {
        const value = row[index]
        record[attribute.name] = value === null ? null : dialect.decode(attribute, value)
      }
      return record
    },
  }
}
