import { plainColumnType } from '../../../model/column-type.ts'
import type { AttributeDefinition } from '../../../model/definition.ts'
import { defaultLimits } from '../../../support/limits.ts'
import { schemaProblems } from '../../check-schema.ts'
import { type DatabaseDescription, freeKeyName } from '../../database-description.ts'
import { isCurrentTime } from '../../default-expression.ts'
import { planSchema } from '../../sql-schema.ts'
import { Connection } from '../client/connection.ts'
import { retryWhileBusy } from '../client/retry-while-busy.ts'
import { waitUntilReadable } from '../client/wait-until-readable.ts'
import { sqliteDialect } from '../dialect.ts'
import { namedError, sqliteError } from '../errors.ts'
import { assertUtf8 } from './assert-utf8.ts'
import { affinityOf, sqliteColumns } from './column-check.ts'
import { inspect, type SqliteColumn } from './inspect.ts'

const kinds: Readonly<Record<string, string>> = {
  view: 'a view; on SQLite only tables are served',
  virtual: 'a virtual table, which has no triggers, so that its changes would not be seen',
}

/** Reads the tables of a file without changing it. */
export async function describeSqlite(path: string): Promise<DatabaseDescription> {
  try {
    await waitUntilReadable(path, defaultLimits.busyTimeoutMs)
    using connection = new Connection(path, { readOnly: true })
    const read = () => {
      assertUtf8(connection, path)
      return describe(connection)
    }
    return await retryWhileBusy(read, defaultLimits.busyTimeoutMs)
  } catch (error) {
    throw namedError(path, sqliteError(error))
  }
}

function describe(connection: Connection): DatabaseDescription {
  const listed = connection.all(
    `select name, type from pragma_table_list where schema = 'main' and type <> 'table' and name not like 'sqlite\\_%' escape '\\'`,
    [],
  )
  const others = new Map(listed.map(([name, type]) => [name as string, kinds[type as string]]))
  const known = [...inspect(connection)].filter(([name]) => !others.has(name))
  const keyProblems = known.flatMap(([name, { key, columns }]) => {
    const problem = key.length === 1 ? columns.get(key[0] as string)?.collationProblem : undefined
    return problem === undefined ? [] : [[name, `its key "${key[0]}" ${problem}`] as const]
  })
  const unkeyed = new Map(keyProblems)
  const tables = new Map(known.filter(([name]) => !unkeyed.has(name)))
  // The tables in which a virtual one stores its content are not mentioned.
  const leftOut = new Map([...others].flatMap(([name, reason]) => (reason === undefined ? [] : [[name, reason]])))
  return {
    tables,
    leftOut: new Map([...leftOut, ...unkeyed]),
    attributeFor,
    isCounted: (column: SqliteColumn) => column.isRowId,
    unservedReason: ({ collationProblem }: SqliteColumn) => collationProblem && `it ${collationProblem}`,
    addKey: (table) => `copy its rows into a table with the column "${freeKeyName(table)} integer primary key"`,
    problemsOf: (model) => schemaProblems(model, tables, sqliteColumns),
    stepsOf: (models) => planSchema(models, tables, sqliteDialect, 'add').map(({ step }) => step),
  }
}

/** By the declared type, which for SQLite is a text like any other. */
function attributeFor({ type, isStrict, holdsJson, defaultText }: SqliteColumn): AttributeDefinition | undefined {
  const declared = type.toLowerCase()
  // It keeps each value as it is given, and an attribute of any type would change the others.
  if (isStrict && !holdsJson && declared === 'any') return undefined
  const columnType = plainColumnType(declared) ?? /^\w*/.exec(declared)?.[0] ?? ''
  if (holdsJson || /^jsonb?$/.test(declared)) return { type: 'json' }
  if (/^bool|^bit(?: ?\(1\))?$|^tinyint ?\(1\)/.test(declared)) return { type: 'boolean' }
  if (declared === 'uuid') return { type: 'string', isUUID: true }
  const isTime = /^date|^timestamp/.test(declared) || (/^text$|char/.test(declared) && isCurrentTime(defaultText))
  if (isTime) return { type: 'datetime', columnType }
  switch (affinityOf(type)) {
    case 'integer':
      return /big|int8/.test(declared) ? { type: 'bigint' } : { type: 'number', isInteger: true }
    case 'real':
      return { type: 'number' }
    case 'text': {
      const [, length] = /char\w*(?: varying)? ?\((\d+)\)/.exec(declared) ?? []
      return { type: 'string', ...(length !== undefined && { maxLength: Number(length) }) }
    }
    case 'none':
      return declared === '' ? { type: 'string' } : { type: 'binary' }
    case 'numeric':
      if (!/^(?:dec|num|fixed|money|currency)/.test(declared)) return { type: 'string', columnType }
      return { type: 'number', ...(columnType.includes('(') && { columnType }) }
  }
}
