import type { Selection } from '../criteria/criteria.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { Dialect } from '../sql/dialect.ts'
import type { Row } from './driver.ts'

/** Turns the rows of one selection into JSON text, or into objects. */
export interface Encoder {
  encode(row: Row): string
  decode(row: Row): JsonObject
}

/**
 * Compiled from the names of the attributes and the dialect's own pieces of source; never from anything a client sent.
 * A loop over the columns would look each of them up again for every row, and a list of records is mostly this.
 */
export function compileEncoder(selection: Selection, dialect: Dialect): Encoder {
  const quote = JSON.stringify
  const others = selection.map((attribute) => (value: unknown) => JSON.stringify(dialect.decode(attribute, value)))
  const members = selection.map((attribute, index) => {
    const source = dialect.encoderSource(attribute) ?? `others[${index}](v)`
    const key = JSON.stringify(`${index === 0 ? '{' : ','}${JSON.stringify(attribute.name)}:`)
    return `text += ${key}; v = row[${index}]; text += v === null ? 'null' : ${source.replaceAll('other(v)', `others[${index}](v)`)};`
  })
  const body = `return (row) => { let text = ''; let v; ${members.join('\n')} return text + '}'; }`
  const encode = new Function('quote', 'others', body)(quote, others) as (row: Row) => string
  return {
    encode,
    decode(row) {
      const record: Record<string, Json> = {}
      for (let index = 0; index < selection.length; index++) {
        const attribute = selection[index] as Selection[number]
        const value = row[index]
        record[attribute.name] = value === null ? null : dialect.decode(attribute, value)
      }
      return record
    },
  }
}
