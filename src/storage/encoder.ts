import type { Selection } from '../criteria/criteria.ts'
import { storedSelection } from '../criteria/stored-selection.ts'
import { computedValue, storedSources } from '../model/computed.ts'
import type { Attribute } from '../model/model.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { Dialect } from '../sql/dialect.ts'
import type { Row } from './driver.ts'

/** Turns the rows of one selection into JSON text or objects. */
export interface Encoder {
  /** The attributes of a row, in the order of its values. */
  readonly stored: Selection
  /** A JSON object without its closing brace, so that members can be appended. */
  encodeOpen(row: Row): string
  decode(row: Row): JsonObject
}

/** What JSON escapes, and everything beyond ASCII. */
const unusual = /[^ !#-[\]-~]/

/** The source of `quote(v)`. Most texts need nothing but the quotes, and to see that takes less time than `stringify` does. */
const quotedText = `(unusual.test(v) ? JSON.stringify(v) : '"' + v + '"')`

/**
 * Compiled to a function from attribute names and the dialect's source fragments, never from client input: a loop that
 * looks up each column for each row takes most of the time of a list. Attributes in `without` are read but not encoded.
 */
export function compileEncoder(selection: Selection, dialect: Dialect, without: ReadonlySet<string>): Encoder {
  const stored = storedSelection(selection)
  const others = stored.map((attribute) => (value: unknown) => JSON.stringify(dialect.decode(attribute, value)))
  const isShown = ({ name }: Attribute) => !without.has(name)
  const shown = selection
    .filter((attribute) => !attribute.computed && isShown(attribute))
    .map((attribute) => ({ attribute, index: stored.indexOf(attribute) }))
  const computed = selection.filter((attribute) => attribute.computed && isShown(attribute))
  const members = shown.map(({ attribute, index }, place) => {
    const other = `others[${index}](v)`
    const source =
      dialect.encoderSource(attribute)?.replaceAll('other(v)', other).replaceAll('quote(v)', quotedText) ?? other
    const key = JSON.stringify(`${place === 0 ? '' : ','}${JSON.stringify(attribute.name)}:`)
    return `text += ${key}; v = row[${index}]; text += v === null ? 'null' : ${source};`
  })
  const body = `return (row) => { let text = '{'; let v; ${members.join('\n')} return text; }`
  const encodeStored = new Function('unusual', 'others', body)(unusual, others) as (row: Row) => string
  const needed = [...new Set(computed.flatMap(storedSources))].map((attribute) => ({
    attribute,
    index: stored.indexOf(attribute),
  }))
  const computeInto = (record: Record<string, Json>, row: Row): Record<string, Json> => {
    const sources: Record<string, Json> = {}
    for (const { attribute, index } of needed) sources[attribute.name] = decode(attribute, row[index], dialect)
    for (const attribute of computed) record[attribute.name] = computedValue(attribute, sources)
    return record
  }
  const encodeWithComputed = (row: Row): string => {
    const text = encodeStored(row)
    return `${text}${text.length === 1 ? '' : ','}${JSON.stringify(computeInto({}, row)).slice(1, -1)}`
  }
  return {
    stored,
    encodeOpen: computed.length === 0 ? encodeStored : encodeWithComputed,
    decode(row) {
      const record: Record<string, Json> = {}
      for (const { attribute, index } of shown) {
        record[attribute.name] = decode(attribute, row[index], dialect)
      }
      return computed.length === 0 ? record : computeInto(record, row)
    },
  }
}

const decode = (attribute: Attribute, value: unknown, dialect: Dialect): Json =>
  value === null ? null : dialect.decode(attribute, value)
