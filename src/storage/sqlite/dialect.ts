import type { Attribute } from '../../model/model.ts'
import type { Json } from '../../protocol/json.ts'
import { parseLike } from '../../sql/like.ts'
import { raw, sql } from '../../sql/sql.ts'
import { prefixEnd } from '../prefix-end.ts'
import type { SchemaDialect } from '../sql-schema.ts'
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

/** In a column that was declared for us, times are as that program wrote them and must be brought into our form. */
const isForeignTime = (attribute: Attribute): boolean =>
  attribute.type.storedAs === 'timestamp' && attribute.columnType !== undefined

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** The planner looks at a limit that is bound, and prepares the statement again whenever one is: a third of what a page costs. */
const writtenLimit = 101

export const sqliteDialect: SchemaDialect = {
  name: 'sqlite',
  placeholder: '?',
  identifier: (name) => `"${name.replaceAll('"', '""')}"`,
  columnType: (attribute) => attribute.columnType ?? columnTypes[attribute.type.storedAs],
  countedKey: 'integer primary key autoincrement',
  inlineForeignKeys: true,
  jsonCheck: (column) => `check (json_valid(${column}))`,

  literal(attribute, value) {
    const encoded = this.encode(attribute, value)
    if (encoded instanceof Uint8Array) return `x'${Buffer.from(encoded).toString('hex')}'`
    return typeof encoded === 'string' ? quoted(encoded) : String(encoded)
  },

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
        return typeof value === 'string' ? value : bytesOr(value, 'utf8')
      case 'integer':
      case 'real':
        return typeof value === 'bigint' || typeof value === 'number' ? finite(Number(value)) : bytesOr(value, 'utf8')
      case 'bigint':
        return bytesOr(value, 'utf8')
      case 'boolean':
        return Boolean(Number(value))
      case 'json':
        return parsed(bytesOr(value, 'utf8'))
      case 'timestamp':
        return canonicalTimestamp(value instanceof Uint8Array ? bytesOr(value, 'utf8') : value)
      case 'binary':
        return bytesOr(value, 'base64')
    }
  },

  /** Bytes are in a list, as hexadecimal digits. */
  decodeImage(attribute, value) {
    if (!Array.isArray(value)) return this.decode(attribute, value)
    const [digits] = value as [string]
    return attribute.type.storedAs === 'json' ? digits : this.decode(attribute, Buffer.from(digits, 'hex'))
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
        return "typeof v === 'string' && !v.includes('\\0') ? v : other(v)" // SQLite looks no further than a zero byte
      case 'timestamp':
        return "typeof v === 'string' && v.length === 24 && v[10] === 'T' && v[19] === '.' && v[23] === 'Z' ? quote(v) : other(v)"
      default:
        return undefined
    }
  },

  selected(attribute, column, sound) {
    if (attribute.type.storedAs === 'bigint') return `cast(${column} as text)`
    if (attribute.type.storedAs !== 'json' || sound) return column
    return `case when json_valid(${column}) then ${column} when typeof(${column}) = 'blob' then json_quote(hex(${column})) when ${column} is not null then json_quote(${column}) end`
  },

  compared: (attribute, column) => (isForeignTime(attribute) ? `strftime('%Y-%m-%dT%H:%M:%fZ', ${column})` : column),

  operand(attribute, value) {
    return sql`${this.encode(attribute, value)}`
  },

  bound: (_, value) => sql`${value}`,

  isOneOf(attribute, column, values) {
    return sql`${raw(this.compared(attribute, column))} in (select value from json_each(${listOf(attribute, values)}))`
  },

  // The columns of json_each have names that tables have too, so they are given others.
  keys: (attribute, keys) =>
    sql`(select key + 1 as keelson_n, value as keelson_key from json_each(${listOf(attribute, keys)})) keelson_p`,

  seek: (table, primaryKey, ids) => sql` cross join ${raw(table)} on ${raw(`${table}.${primaryKey}`)} in (${ids})`,

  contains: (column, text) => sql`instr(${raw(column)}, ${text}) > 0`,

  /** A range, which an index serves whatever the text is; a pattern is only served when the planner knows it. */
  startsWith(column, text) {
    if (text === '') return raw(`${column} is not null`)
    const end = prefixEnd(text)
    const from = sql`${raw(column)} >= ${text}`
    return end === undefined ? from : sql`(${from} and ${raw(column)} < ${end})`
  },

  /** Not by a pattern: patterns take the last two characters of a plane for the one that stands for what is broken. */
  endsWith: (column, text) =>
    text === '' ? raw(`${column} is not null`) : sql`substr(${raw(column)}, ${-[...text].length}) = ${text}`,

  /** GLOB, because SQLite's LIKE does not tell upper from lower case. */
  like(column, pattern) {
    const glob = parseLike(pattern).map((piece) =>
      piece.kind === 'any' ? '*' : piece.kind === 'one' ? '?' : escapeGlob(piece.text),
    )
    return sql`${raw(column)} glob ${glob.join('')}`
  },

  // SQLite takes null for smaller than anything, which is the order we promise.
  order(attribute, column, direction) {
    return `${this.compared(attribute, column)}${direction === 'desc' ? ' desc' : ''}`
  },

  seeksRows: false, // only by the first
  mergesSelects: true,
  page(limit, skip) {
    const most = limit <= writtenLimit ? raw(` limit ${Math.trunc(limit)}`) : sql` limit ${limit}`
    return skip === 0 ? most : sql`${most} offset ${skip}`
  },
  lock: '', // there is only one writer
  ifMissing: ' on conflict do nothing',
  insertDefaults: () => 'default values',
}

/** JSON has no integers of 64 bits that survive every reader: as text they take the column's affinity all the same. */
function listOf(attribute: Attribute, values: readonly Json[]): string {
  const encoded = values.map((value) => sqliteDialect.encode(attribute, value))
  return JSON.stringify(encoded.map((value) => (typeof value === 'bigint' ? String(value) : value)))
}

const escapeGlob = (text: string): string => text.replace(/[*?[]/g, '[$&]')

const finite = (number: number): Json => (Number.isFinite(number) ? number : null)

const bytesOr = (value: unknown, encoding: 'utf8' | 'base64'): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString(encoding) : String(value)

function parsed(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
