import type { Selection } from '../criteria/criteria.ts'
import { storedSelection } from '../criteria/stored-selection.ts'
import { computedValue, storedSources } from '../model/computed.ts'
import type { Attribute } from '../model/model.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { Dialect } from '../sql/dialect.ts'
import { type Column, compileColumns, type RowEncoder } from './column-encoder.ts'
import type { Row } from './driver.ts'

/** Turns the rows of one selection into JSON text or objects. */
export interface Encoder {
  /** The attributes of a row, in the order of its values. */
  readonly stored: Selection
  /** What the text consists of; undefined where a value is computed. */
  readonly columns?: readonly Column<Attribute>[] | undefined
  /** A JSON object without its closing brace, so that members can be appended. */
  encodeOpen(row: Row): string
  /** The encoder of a list of rows; without it, `encodeOpen` encodes each row. */
  readonly encoderOf?: RowEncoder['encoderOf'] | undefined
  decode(row: Row): JsonObject
}

/** Attributes in `without` are read but not encoded. */
export function compileEncoder(selection: Selection, dialect: Dialect, without: ReadonlySet<string>): Encoder {
  const stored = storedSelection(selection)
  const isShown = ({ name }: Attribute) => !without.has(name)
  const shown = selection
    .filter((attribute) => !attribute.computed && isShown(attribute))
    .map((attribute) => ({ attribute, index: stored.indexOf(attribute) }))
  const computed = selection.filter((attribute) => attribute.computed && isShown(attribute))
  const { encodeOpen, encoderOf } = compileColumns(shown, dialect)
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
    const text = encodeOpen(row)
    return `${text}${text.length === 1 ? '' : ','}${JSON.stringify(computeInto({}, row)).slice(1, -1)}`
  }
  return {
    stored,
    columns: computed.length === 0 ? shown : undefined,
    encodeOpen: computed.length === 0 ? encodeOpen : encodeWithComputed,
    encoderOf: computed.length === 0 ? encoderOf : undefined,
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
