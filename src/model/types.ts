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
const momentColumn = /^(datetime|timestamp|timestamptz|date)$/
const bytesColumn = /^((tiny|medium|long)?blob|bytea|(var)?binary)$/

/** The type that the Waterline spelling means, or what is wrong with the spelling. Not for associations. */
export function attributeTypeOf(definition: AttributeDefinition): AttributeType | string {
  const type = meantBy(definition)
  if (typeof type === 'string') return type
  if (definition.isUUID && type !== uuid) return `\`isUUID\` does not go with ${nameOf(definition, type)}`
  if (definition.isInteger && type !== integer && type !== bigint) {
    return `\`isInteger\` does not go with ${nameOf(definition, type)}`
  }
  return type
}

function meantBy(definition: AttributeDefinition): AttributeType | string {
  const column = firstWord(definition.columnType)
  const isStamp = definition.autoCreatedAt || definition.autoUpdatedAt
  switch (definition.type) {
    case 'string':
      if (bigColumn.test(column)) return bigint
      return definition.isUUID || column === 'uuid' ? uuid : text
    case 'number':
      // Milliseconds since 1970 are whole and exact, whatever the column could hold beyond them.
      if (isStamp) return integer
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
    case 'ref':
      if (bigColumn.test(column)) return bigint
      if (momentColumn.test(column)) return datetime
      if (column === 'uuid') return uuid
      return bytesColumn.test(column) ? binary : json
    case undefined:
      if (definition.autoIncrement) return integer
      return isStamp ? datetime : 'it needs a `type`, a `model` or a `collection`'
    default:
      return unknownType(definition.type)
  }
}

/** 'timestamp(3) with time zone' is a timestamp. */
const firstWord = (columnType: string | undefined): string => /^\w*/.exec((columnType ?? '').trim().toLowerCase())![0]

const nameOf = (definition: AttributeDefinition, type: AttributeType): string =>
  definition.type === undefined ? type.name : `type "${definition.type}"`

/** How other versions and other tools call what we have. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['integer', 'type "number" with `isInteger`'],
  ['int', 'type "number" with `isInteger`'],
  ['float', 'type "number"'],
  ['text', 'type "string"'],
  ['email', 'type "string" with `isEmail`'],
  ['uuid', 'type "string" with `isUUID`'],
  ['date', 'type "datetime"'],
  ['array', 'type "json"'],
  ['object', 'type "json"'],
  ['binary', 'type "ref" with the column’s type, as in `columnType: "blob"`'],
])

function unknownType(type: string): string {
  const known = otherNames.get(type)
  return `there is no type "${type}"${known === undefined ? '' : `; use ${known}`}`
}
