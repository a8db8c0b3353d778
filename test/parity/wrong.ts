import type { Condition, Criteria } from '../../src/criteria/criteria.ts'
import type { Modifier } from '../../src/criteria/modifier.ts'
import { toSql } from '../../src/criteria/to-sql.ts'
import { join, raw, type Sql, sql } from '../../src/sql/sql.ts'
import { planSchema } from '../../src/storage/sql-schema.ts'
import { SqlStore, type SqlStoreParts } from '../../src/storage/sql-store.ts'
import { sqliteDialect } from '../../src/storage/sqlite/dialect.ts'
import { SqliteDriver } from '../../src/storage/sqlite/driver.ts'
import { Wake } from '../../src/storage/wake.ts'
import { defaultLimits } from '../../src/support/limits.ts'
import type { Subject } from './compare.ts'
import { models, sample } from './sample.ts'

/** A database that is almost right. */
export interface Mistake {
  readonly name: string
  readonly dialect?: Partial<typeof sqliteDialect>
  /** Run before any table is made. */
  readonly before?: string
  readonly ask?: (criteria: Criteria) => Criteria
}

/** SQLite in memory, with a mistake in it. */
export function openWrong({ name, dialect: wrong, before = '', ask = (criteria) => criteria }: Mistake): Subject {
  const dialect = { ...sqliteDialect, ...wrong }
  const driver = new SqliteDriver(':memory:', defaultLimits, new Wake())
  driver.setup.exec(before)
  // The tables are right: only what is asked of them is not.
  const steps = planSchema([...models.values()], new Map(), sqliteDialect, 'add')
  for (const statement of steps.flatMap(({ statements }) => statements)) driver.setup.exec(statement)
  const changes = {} as SqlStoreParts['changes'] // nobody reads the log here
  const store = new SqlStore({ driver, dialect, changes, description: name, secret: name, sound: () => true })
  return { name, store, dialect, ask }
}

const is = (column: string): Sql => raw(column)
const lastUnit = (text: string): string => text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1)

/** Asks something else wherever a condition is of this kind. */
const rewritten =
  (rewrite: (condition: Condition) => Condition | undefined) =>
  (criteria: Criteria): Criteria => ({ ...criteria, where: rewriteAll(criteria.where, rewrite) })

function rewriteAll(condition: Condition, rewrite: (condition: Condition) => Condition | undefined): Condition {
  const deep = (part: Condition) => rewriteAll(part, rewrite)
  const inner: Condition =
    condition.kind === 'and' || condition.kind === 'or'
      ? { ...condition, conditions: condition.conditions.map(deep) }
      : condition.kind === 'not' || condition.kind === 'related'
        ? { ...condition, condition: deep(condition.condition) }
        : condition
  return rewrite(inner) ?? inner
}

/** A condition that says this in SQL. */
const saying = (text: Sql): Condition => {
  const modifier: Modifier = { name: 'wrong', parse: (raw) => raw, matches: () => false, sql: () => text }
  return { kind: 'compare', attribute: sample.primaryKey, modifier, operand: null }
}

const modified = (name: string, say: (column: string, condition: Condition & { kind: 'compare' }) => Sql | undefined) =>
  rewritten((condition) => {
    if (condition.kind !== 'compare' || condition.modifier.name !== name) return undefined
    const text = say(sqliteDialect.identifier(condition.attribute.column), condition)
    return text && saying(text)
  })

/** What people get wrong, and databases do by themselves. The net must catch each of them. */
export const mistakes: readonly Mistake[] = [
  {
    name: 'like does not tell upper from lower case',
    dialect: { like: (column, pattern) => sql`${is(column)} like ${pattern} escape '\\'` },
  },
  {
    name: 'like takes the characters of GLOB for its own',
    dialect: {
      like: (column, pattern) =>
        sql`${is(column)} glob ${pattern.replaceAll(/\\(.)/gsu, '$1').replaceAll('%', '*').replaceAll('_', '?')}`,
    },
  },
  {
    name: 'like knows no backslash',
    dialect: { like: (column, pattern) => sqliteDialect.like(column, pattern.replaceAll('\\', '\\\\')) },
  },
  {
    name: 'contains takes % and _ for wildcards',
    dialect: { contains: (column, text) => sqliteDialect.like(column, `%${text.replaceAll('\\', '\\\\')}%`) },
  },
  {
    name: 'contains folds the letters',
    dialect: { contains: (column, text) => sql`instr(lower(${is(column)}), lower(${text})) > 0` },
  },
  {
    name: 'startsWith reaches one text too far',
    dialect: {
      startsWith(column, text) {
        const end = lastUnit(text)
        return text === '' || !end.isWellFormed()
          ? sqliteDialect.startsWith(column, text)
          : sql`(${is(column)} >= ${text} and ${is(column)} <= ${end})`
      },
    },
  },
  {
    name: 'startsWith ends before the characters above U+FFFF',
    dialect: { startsWith: (column, text) => sql`(${is(column)} >= ${text} and ${is(column)} < ${`${text}\uffff`})` },
  },
  {
    name: 'startsWith counts UTF-16 units for its end',
    dialect: {
      startsWith: (column, text) =>
        text === ''
          ? sqliteDialect.startsWith(column, text)
          : sql`(${is(column)} >= ${text} and ${is(column)} < ${lastUnit(text)})`,
    },
  },
  {
    name: 'endsWith forgets that [ means something to GLOB',
    dialect: { endsWith: (column, text) => sql`${is(column)} glob ${`*${text.replaceAll(/[*?]/g, '[$&]')}`}` },
  },
  {
    name: 'endsWith takes nothing for something',
    dialect: { endsWith: (column, text) => sql`substr(${is(column)}, ${-[...text].length}) = ${text}` },
  },
  {
    name: 'endsWith counts UTF-16 units',
    dialect: {
      endsWith: (column, text) => sql`(${text === '' ? 1 : 0} or substr(${is(column)}, ${-text.length}) = ${text})`,
    },
  },
  {
    name: 'not is the not of SQL',
    ask: rewritten((condition) =>
      condition.kind === 'not' ? saying(sql`not (${toSql(condition.condition, sqliteDialect)})`) : undefined,
    ),
  },
  {
    name: 'and and or stand without brackets',
    ask: rewritten((condition) => {
      if ((condition.kind !== 'and' && condition.kind !== 'or') || condition.conditions.length < 2) return undefined
      return saying(
        join(
          condition.conditions.map((part) => toSql(part, sqliteDialect)),
          ` ${condition.kind} `,
        ),
      )
    }),
  },
  {
    name: 'an empty or is true',
    ask: rewritten((condition) =>
      condition.kind === 'or' && condition.conditions.length === 0 ? saying(raw('1 = 1')) : undefined,
    ),
  },
  {
    name: 'an empty list holds everything',
    ask: modified('in', (_, { operand }) => ((operand as readonly unknown[]).length === 0 ? raw('1 = 1') : undefined)),
  },
  {
    name: 'nin takes those without a value along',
    ask: modified('nin', (column, condition) => sql`(${is(column)} is null or ${toSql(condition, sqliteDialect)})`),
  },
  {
    name: 'nothing is outside of an empty list',
    ask: modified('nin', (column, { operand }) =>
      (operand as readonly unknown[]).length === 0 ? sql`${is(column)} is not null` : undefined,
    ),
  },
  {
    name: '!= takes those without a value along',
    ask: modified('!=', (column, condition) => sql`(${is(column)} is null or ${toSql(condition, sqliteDialect)})`),
  },
  {
    name: '> means >=',
    ask: modified(
      '>',
      (column, { attribute, operand }) => sql`${is(column)} >= ${sqliteDialect.operand(attribute, operand)}`,
    ),
  },
  {
    name: 'nulls come last',
    dialect: {
      order: (attribute, column, direction) => `${sqliteDialect.order(attribute, column, direction)} nulls last`,
    },
  },
  {
    name: 'nulls come first in both directions',
    dialect: {
      order: (attribute, column, direction) => `${sqliteDialect.order(attribute, column, direction)} nulls first`,
    },
  },
  { name: 'texts are ordered by UTF-16 units', before: "pragma encoding = 'UTF-16be'" },
  {
    name: 'texts are ordered without regard to case',
    dialect: {
      order: (attribute, column, direction) =>
        `${column}${attribute.type.storedAs === 'text' ? ' collate nocase' : ''}${direction === 'desc' ? ' desc' : ''}`,
    },
  },
  {
    name: 'numbers of 64 bits are ordered as texts',
    dialect: {
      compared: (attribute, column) => (attribute.type.storedAs === 'bigint' ? `cast(${column} as text)` : column),
    },
  },
  {
    name: 'numbers of 64 bits are compared as doubles',
    dialect: {
      compared: (attribute, column) => (attribute.type.storedAs === 'bigint' ? `cast(${column} as real)` : column),
    },
  },
  {
    name: 'numbers are compared with fifteen digits',
    dialect: {
      compared: (attribute, column) =>
        attribute.type.storedAs === 'real' ? `cast(printf('%.14e', ${column}) as real)` : column,
    },
  },
  {
    name: 'times are compared by the second',
    dialect: {
      compared: (attribute, column) => (attribute.type.storedAs === 'timestamp' ? `substr(${column}, 1, 19)` : column),
    },
  },
  {
    name: 'blanks at the end do not count',
    dialect: { compared: (attribute, column) => (attribute.type.storedAs === 'text' ? `rtrim(${column})` : column) },
  },
  { name: 'ties are left to the database', ask: (criteria) => ({ ...criteria, sort: criteria.sort.slice(0, -1) }) },
  {
    name: 'ties are broken the other way',
    ask: (criteria) => ({
      ...criteria,
      sort: criteria.sort.map((sort, index) =>
        index === criteria.sort.length - 1 && index > 0 && sort.attribute.isPrimaryKey
          ? { ...sort, direction: 'desc' as const }
          : sort,
      ),
    }),
  },
  {
    name: 'a page begins one too late',
    ask: (criteria) => ({ ...criteria, skip: criteria.skip === 0 ? 0 : criteria.skip + 1 }),
  },
  {
    name: 'a page holds one too many',
    ask: (criteria) => ({ ...criteria, limit: criteria.limit === 0 ? 0 : criteria.limit + 1 }),
  },
  { name: 'a cursor is not listened to', ask: ({ after: _, ...criteria }) => criteria },
  { name: 'select is not listened to', ask: (criteria) => ({ ...criteria, select: [...sample.attributes.values()] }) },
  {
    name: 'an association is asked about nobody',
    ask: rewritten((condition) =>
      condition.kind === 'related' && condition.association.kind !== 'manyToMany'
        ? { ...condition, condition: { kind: 'not', condition: condition.condition } }
        : undefined,
    ),
  },
]
