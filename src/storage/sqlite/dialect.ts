import { generatePrimeSync } from 'node:crypto'
import type { Attribute, Model } from '../../model/model.ts'
import type { Json } from '../../protocol/json.ts'
import { parseLike } from '../../sql/like.ts'
import { raw, sql } from '../../sql/sql.ts'
import { isBytes } from '../../support/is-bytes.ts'
import { prefixEnd } from '../prefix-end.ts'
import type { SchemaDialect } from '../schema-dialect.ts'
import { jsonOfBytes, jsonTextOf } from './json-bytes.ts'
import { jsonCheck } from './schema/json-check.ts'
import { canonicalTimestamp } from './timestamp.ts'

const columnTypes = {
  text: 'text',
  integer: 'integer',
  bigint: 'integer',
  real: 'real',
  boolean: 'integer',
  json: 'text',
  timestamp: 'text',
  uuid: 'text',
  binary: 'blob',
} as const

/** In columns with an explicit `columnType`, times may have the format of another program and are normalized. */
const isForeignTime = (attribute: Attribute): boolean =>
  attribute.type.storedAs === 'timestamp' && attribute.columnType !== undefined

const timeForm = '%Y-%m-%dT%H:%M:%fZ'

/** A text without the digits beyond milliseconds, by which SQLite would round: a time is answered without them. */
const withMilliseconds = (column: string): string =>
  `case when substr(${column}, 20, 4) glob '.[0-9][0-9][0-9]' then substr(${column}, 1, 23) || ltrim(substr(${column}, 24), '0123456789') else ${column} end`

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** SQLite prepares a statement again whenever a limit is bound, a third of the cost of a page: limits up to this are literals. */
const writtenLimit = 101

/**
 * A sample by the last bits of keys would miss rows of which all keys are odd, or have a step of 16. The remainders by a prime take
 * turns whatever the step is, and no client can choose keys that avoid a prime of each process.
 */
const sampledPrime = String(generatePrimeSync(10, { bigint: true }))

/** Whether the key is the number that SQLite has for each row, with which it ends each index. */
export const isKeyRowId = ({ primaryKey, key }: Model): boolean =>
  key.length === 1 && ['integer', 'bigint'].includes(primaryKey.type.storedAs)

export const sqliteDialect = {
  name: 'sqlite',
  capabilities: {
    seeksRows: false, // seeks by the first column only
    mergesSelects: true,
    joinsInOrder: true, // not promised, and so checked: to sort takes an eighth of the statement
    correlates: false,
    addsForeignKeys: false,
    sliceRows: 100,
  },
  placeholder: '?',
  identifier: (name) => `"${name.replaceAll('"', '""')}"`,
  columnType: (attribute) => attribute.columnType ?? columnTypes[attribute.type.storedAs],
  countedKey: 'integer primary key autoincrement',
  jsonCheck,

  literal(attribute, value) {
    const encoded = this.encode(attribute, value)
    if (isBytes(encoded)) return `x'${Buffer.from(encoded).toString('hex')}'`
    return typeof encoded === 'string' ? quoted(encoded) : String(encoded)
  },

  boundAsIs: new Set(['text', 'uuid', 'integer', 'real', 'timestamp']),

  // Other programs read nothing else from such a column.
  writesDate: (attribute) => isForeignTime(attribute) && /^date$/i.test(attribute.columnType ?? ''),

  encode(attribute, value) {
    switch (attribute.type.storedAs) {
      case 'boolean':
        return value === true ? 1 : 0
      case 'json':
        return JSON.stringify(value)
      case 'bigint':
        return BigInt(value as string)
      case 'binary':
        return Buffer.from(value as string, 'base64')
      default:
        return value
    }
  },

  decode(attribute, value) {
    if (value === null) return null
    switch (attribute.type.storedAs) {
      case 'text':
      case 'uuid':
        return typeof value === 'string' ? value : textOf(value)
      case 'integer':
      case 'real':
        return typeof value === 'bigint' || typeof value === 'number' ? finite(Number(value)) : textOf(value)
      case 'bigint':
        return textOf(value)
      case 'boolean':
        return typeof value === 'number' || typeof value === 'bigint' ? Boolean(value) : textOf(value)
      case 'json':
        return parsed(textOf(value))
      case 'timestamp':
        return canonicalTimestamp(isBytes(value) ? textOf(value) : value)
      case 'binary':
        // Other programs store texts in such a column, too.
        return Buffer.from(isBytes(value) ? value : String(value)).toString('base64')
    }
  },

  /** Bytes are an array with one string of hexadecimal digits. */
  decodeImage(attribute, value) {
    if (!Array.isArray(value)) return this.decode(attribute, value)
    const [digits] = value as [string]
    const bytes = Buffer.from(digits, 'hex')
    return this.decode(attribute, attribute.type.storedAs === 'json' ? jsonTextOf(bytes) : bytes)
  },

  encoderSource(attribute) {
    switch (attribute.type.storedAs) {
      case 'text':
      case 'uuid':
        return "typeof v === 'string' ? quote(v) : other(v)"
      case 'integer':
        return "Number.isFinite(v) || typeof v === 'bigint' ? v : other(v)"
      case 'bigint':
        return "typeof v === 'string' ? quote(v) : other(v)"
      case 'real':
        return 'Number.isFinite(v) ? v : other(v)'
      case 'boolean':
        return "v === 1 ? 'true' : v === 0 ? 'false' : other(v)"
      case 'json':
        return "typeof v === 'string' && !v.includes('\\0') ? v : other(v)" // json_valid stops at a zero byte
      case 'timestamp':
        return "typeof v === 'string' && v.length === 24 && v[10] === 'T' && v[19] === '.' && v[23] === 'Z' ? quote(v) : other(v)"
      default:
        return undefined
    }
  },

  selected(attribute, column, hasJsonCheck) {
    if (attribute.type.storedAs === 'bigint') return `cast(${column} as text)`
    if (attribute.type.storedAs !== 'json' || hasJsonCheck) return column
    return `case when json_valid(${column}) then ${column} when typeof(${column}) = 'blob' then ${jsonOfBytes(column)} when ${column} is not null then json_quote(${column}) end`
  },

  // A cast has the affinity of a column, so that operands are converted.
  expression: ({ type }, text) => `cast(${text} as ${columnTypes[type.storedAs]})`,

  compared: (attribute, column) =>
    isForeignTime(attribute)
      ? // SQLite would take a number for days.
        `case when typeof(${column}) in ('integer', 'real') then strftime('${timeForm}', ${column} / 1000.0, 'unixepoch') else strftime('${timeForm}', ${withMilliseconds(column)}) end`
      : attribute.type.storedAs === 'binary'
        ? `cast(${column} as blob)` // a text equals no bytes
        : column,

  sameJson(attribute, column, text) {
    return sql`keelson_same_json(${raw(this.selected(attribute, column, false))}, ${text})`
  },

  // Other programs store the null of JSON.
  isNull: ({ type }, column) =>
    type.storedAs === 'json' ? `(${column} is null or ${column} = 'null')` : `${column} is null`,
  isNotNull: ({ type }, column) => (type.storedAs === 'json' ? `${column} <> 'null'` : `${column} is not null`),

  operand(attribute, value) {
    return sql`${this.encode(attribute, value)}`
  },

  bound: (_, value) => sql`${value}`,

  isOneOf(attribute, column, values) {
    // JSON has one number type, and a whole number beyond 2^53 would be read as another integer than the double it is.
    const value = raw(attribute.type.storedAs === 'real' ? 'cast(value as real)' : 'value')
    return sql`${raw(this.compared(attribute, column))} in (select ${value} from json_each(${listOf(attribute, values)}))`
  },

  /** Without statistics SQLite expects ten rows of any value of an index, and 25 of a list: it would read all rows of a frequent value. */
  unindexed: (condition) => sql`+(${condition})`,
  frequent: (comparison) => sql`likely(${comparison})`,

  // The column names of json_each may collide with those of the table.
  keys: (attribute, keys) =>
    sql`(select key + 1 as keelson_n, value as keelson_key from json_each(${listOf(attribute, keys)})) keelson_p`,

  seek: (table, primaryKey, ids) => sql` cross join ${table} on ${raw(primaryKey)} in (${ids})`,

  contains: (column, text) => sql`instr(${raw(column)}, ${text}) > 0`,

  /** A range, which an index serves for any text; a pattern is served only when the planner knows its value. */
  startsWith(column, text) {
    if (text === '') return raw(`${column} is not null`)
    const end = prefixEnd(text)
    const from = sql`${raw(column)} >= ${text}`
    return end === undefined ? from : sql`(${from} and ${raw(column)} < ${end})`
  },

  /** Not GLOB, which replaces the last two code points of each plane by U+FFFD. */
  endsWith: (column, text) =>
    text === '' ? raw(`${column} is not null`) : sql`substr(${raw(column)}, ${-[...text].length}) = ${text}`,

  /**
   * Patterns with one literal text are the searches above. For others GLOB would take the length of the text times that
   * of the pattern, within one row, which nothing can stop: they are matched by a function in linear time.
   */
  like(column, pattern) {
    const pieces = parseLike(pattern)
    const [text, ...more] = pieces.flatMap((piece) => (piece.kind === 'text' ? piece.text : []))
    const isSimple = more.length === 0 && pieces.every(({ kind }) => kind !== 'one')
    if (!isSimple) return sql`keelson_like(${raw(column)}, ${pattern})`
    if (text === undefined) return pieces.length === 0 ? sql`${raw(column)} = ${''}` : raw(`${column} is not null`)
    const [isOpenBefore, isOpenAfter] = [pieces[0]?.kind === 'any', pieces.at(-1)?.kind === 'any']
    if (isOpenBefore && isOpenAfter) return this.contains(column, text)
    if (isOpenAfter) return this.startsWith(column, text)
    return isOpenBefore ? this.endsWith(column, text) : sql`${raw(column)} = ${text}`
  },

  ilike: (column, pattern) => sql`keelson_ilike(${raw(column)}, ${pattern})`,

  // SQLite sorts null before all other values, which is the promised order.
  order(attribute, column, direction) {
    return `${this.compared(attribute, column)}${direction === 'desc' ? ' desc' : ''}`
  },

  /** A sample by key costs almost nothing; `random()` is for keys that are no numbers. */
  rowGuard(model, rowsPerCheck) {
    if (rowsPerCheck === 1) return 'keelson_guard()'
    const { table, primaryKey } = model
    const key = `${this.identifier(table)}.${this.identifier(primaryKey.column)}`
    const sample = isKeyRowId(model) ? `${key} % ${sampledPrime}` : 'random()'
    return `(${sample} & ${rowsPerCheck - 1} or keelson_guard())`
  },

  page(limit, skip, isFixed = false) {
    const most = isFixed || limit <= writtenLimit ? raw(` limit ${Math.trunc(limit)}`) : sql` limit ${limit}`
    return skip === 0 ? most : sql`${most} offset ${skip}`
  },
  octets: (_, column) => `octet_length(${column})`,
  lock: '', // all writes run on one connection
  ifMissing: ' on conflict do nothing',
  insertDefaults: () => 'default values',
} satisfies SchemaDialect

/** Big integers are strings: JSON numbers lose digits, and the column's affinity converts the text. */
function listOf(attribute: Attribute, values: readonly Json[]): string {
  const encoded = values.map((value) => sqliteDialect.encode(attribute, value))
  return JSON.stringify(encoded.map((value) => (typeof value === 'bigint' ? String(value) : value)))
}

const finite = (number: number): Json => (Number.isFinite(number) ? number : null)

const textOf = (value: unknown): string => (isBytes(value) ? Buffer.from(value).toString('utf8') : String(value))

function parsed(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
