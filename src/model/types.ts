import { nearest } from '../support/nearest.ts'
import type { AttributeType } from './attribute-type.ts'
import type { AttributeDefinition } from './definition.ts'
import { bigint } from './types/bigint.ts'
import { binary } from './types/binary.ts'
import { boolean } from './types/boolean.ts'
import { datetime } from './types/datetime.ts'
import { integer } from './types/integer.ts'
import { json } from './types/json.ts'
import { number } from './types/number.ts'
import { text } from './types/text.ts'
import { uuid } from './types/uuid.ts'

export const attributeTypes: readonly AttributeType[] = [
  text,
  number,
  integer,
  bigint,
  boolean,
  json,
  datetime,
  uuid,
  binary,
]

const bigColumn = /^(bigint|int8|bigserial)$/
const timestampColumn = /^(datetime|timestamp|timestamptz|date)$/
const bytesColumn = /^((tiny|medium|long)?blob|bytea|(var)?binary)$/

/** The type of a definition, or the problem of the definition. Not for associations. */
export function attributeTypeOf(definition: AttributeDefinition): AttributeType | string {
  const type = inferType(definition)
  if (typeof type === 'string') return type
  if (definition.isUUID && type !== uuid) return `\`isUUID\` cannot be used with ${nameOf(definition, type)}`
  if (definition.isInteger && type !== integer && type !== bigint) {
    return `\`isInteger\` cannot be used with ${nameOf(definition, type)}`
  }
  return type
}

function inferType(definition: AttributeDefinition): AttributeType | string {
  const column = firstWord(definition.columnType)
  const isTimestamp = definition.autoCreatedAt || definition.autoUpdatedAt
  switch (definition.type) {
    case 'string':
      if (bigColumn.test(column)) return bigint
      return definition.isUUID || column === 'uuid' ? uuid : text
    case 'number':
      // Milliseconds since 1970 are safe integers, also in a bigint column.
      if (isTimestamp) return integer
      if (bigColumn.test(column)) return bigint
      return definition.isInteger || definition.autoIncrement ? integer : number
    case 'boolean':
      return boolean
    case 'json':
      return json
    case 'datetime':
      return datetime
    case 'bigint':
      return bigint
    case 'binary':
      return binary
    case 'ref':
      if (bigColumn.test(column)) return bigint
      if (timestampColumn.test(column)) return datetime
      if (column === 'uuid') return uuid
      return bytesColumn.test(column) ? binary : json
    case undefined:
      if (definition.autoIncrement) return integer
      return isTimestamp ? datetime : 'it needs a `type`, a `model` or a `collection`'
    default:
      return `there is no type "${definition.type}"${suggestion(definition.type)}`
  }
}

const typeNames = ['string', 'number', 'bigint', 'boolean', 'datetime', 'binary', 'json', 'ref']

function suggestion(type: string): string {
  const near = nearest(type, typeNames)
  return near === undefined ? '' : `; did you mean "${near}"?`
}

/** The first word: 'timestamp' of 'timestamp(3) with time zone'. */
const firstWord = (columnType: string | undefined): string => /^\w*/.exec((columnType ?? '').trim().toLowerCase())![0]

const nameOf = (definition: AttributeDefinition, type: AttributeType): string =>
  definition.type === undefined ? type.name : `type "${definition.type}"`
