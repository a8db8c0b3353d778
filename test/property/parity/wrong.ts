import type { Condition, Criteria } from '../../../src/criteria/criteria.ts'
import type { Operator } from '../../../src/criteria/operator.ts'
import { toSql } from '../../../src/criteria/to-sql.ts'
import { join, raw, type Sql, sql } from '../../../src/sql/sql.ts'
import { ChangeNotifier } from '../../../src/storage/change-notifier.ts'
import { planSchema } from '../../../src/storage/sql-schema.ts'
import { SqlStore, type SqlStoreParts } from '../../../src/storage/sql-store.ts'
import { SqliteDriver } from '../../../src/storage/sqlite/client/driver.ts'
import { sqliteDialect } from '../../../src/storage/sqlite/dialect.ts'
import { defaultLimits } from '../../../src/support/limits.ts'
import type { Subject } from './compare.ts'
import { models, sample } from './sample.ts'

/** A store with one deliberate mistake. */
export interface Mistake {
  readonly name: string
  readonly dialect?: Partial<typeof sqliteDialect>
  /** SQL that runs before any table is created. */
  readonly before?: string
  readonly ask?: (criteria: Criteria) => Criteria
}

/** An in-memory SQLite store with one mistake. */
export function openWrong({ name, dialect: wrong, before = '', ask = (criteria) => criteria }: Mistake): Subject {
  const dialect = { ...sqliteDialect, ...wrong }
  const driver = new SqliteDriver({ path: ':memory:', limits: defaultLimits, notifier: new ChangeNotifier() })
  driver.setup.exec(before)
  // The tables are correct: only the queries are not.
  const steps = planSchema([...models.values()], new Map(), sqliteDialect, 'add')
  for (const { statement } of steps) driver.setup.exec(statement)
  const changes = {} as SqlStoreParts['changes'] // the log is not read here
  const store = new SqlStore({
    driver,
    dialect,
    changes,
    description: name,
    secret: name,
    isSecretShared: true,
    limits: {
      ...defaultLimits,
      maxAffected: 1000,
      maxRecordBytes: Number.POSITIVE_INFINITY,
      maxAffectedBytes: 1e9,
      maxAnswerBytes: 1e9,
    },
    hasJsonCheck: () => true,
  })
  return { name, store, dialect, ask }
}

const is = (column: string): Sql => raw(column)
const lastUnit = (text: string): string => text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1)

/** Replaces conditions of this kind. */
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

/** A condition with this SQL text. */
const saying = (text: Sql): Condition => {
  const operator: Operator = { name: 'wrong', parse: (raw) => raw, matches: () => false, sql: () => text }
  return { kind: 'compare', attribute: sample.primaryKey, operator, operand: null }
}

const modified = (name: string, say: (column: string, condition: Condition & { kind: 'compare' }) => Sql | undefined) =>
  rewritten((condition) => {
    if (condition.kind !== 'compare' || condition.operator.name !== name) return undefined
    const text = say(sqliteDialect.identifier(condition.attribute.column), condition)
    return text && saying(text)
  })

/** Common mistakes, and deviations of databases. The property test must find each of them. */
export const mistakes: readonly Mistake[] = [
  {
    name: 'like ignores letter case',
    dialect: { like: (column, pattern) => sql`${is(column)} like ${pattern} escape '\\'` },
  },
  {
    name: 'like interprets the wildcards of GLOB',
    dialect: {
      like: (column, pattern) =>
        sql`${is(column)} glob ${pattern.replaceAll(/\\(.)/gsu, '$1').replaceAll('%', '*').replaceAll('_', '?')}`,
    },
  },
  {
    name: 'like ignores the escape character',
    dialect: { like: (column, pattern) => sqliteDialect.like(column, pattern.replaceAll('\\', '\\\\')) },
  },
  {
    name: 'ilike knows the case of ASCII letters only',
    dialect: { ilike: (column, pattern) => sqliteDialect.like(`lower(${column})`, pattern.toLowerCase()) },
  },
  {
    name: 'JSON is compared with the order of its members',
    dialect: { sameJson: (_, column, text) => sql`${is(column)} = ${text}` },
  },
  {
    name: 'contains interprets % and _ as wildcards',
    dialect: { contains: (column, text) => sqliteDialect.like(column, `%${text.replaceAll('\\', '\\\\')}%`) },
  },
  {
    name: 'contains ignores letter case',
    dialect: { contains: (column, text) => sql`instr(lower(${is(column)}), lower(${text})) > 0` },
  },
  {
    name: 'startsWith includes its upper bound',
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
    name: 'startsWith excludes characters above U+FFFF',
    dialect: { startsWith: (column, text) => sql`(${is(column)} >= ${text} and ${is(column)} < ${`${text}\uffff`})` },
  },
  {
    name: 'startsWith computes its upper bound in UTF-16 units',
    dialect: {
      startsWith: (column, text) =>
        text === ''
          ? sqliteDialect.startsWith(column, text)
          : sql`(${is(column)} >= ${text} and ${is(column)} < ${lastUnit(text)})`,
    },
  },
  {
    name: 'endsWith does not escape [ for GLOB',
    dialect: { endsWith: (column, text) => sql`${is(column)} glob ${`*${text.replaceAll(/[*?]/g, '[$&]')}`}` },
  },
  {
    name: 'endsWith mishandles the empty string',
    dialect: { endsWith: (column, text) => sql`substr(${is(column)}, ${-[...text].length}) = ${text}` },
  },
  {
    name: 'endsWith counts UTF-16 units',
    dialect: {
      endsWith: (column, text) => sql`(${text === '' ? 1 : 0} or substr(${is(column)}, ${-text.length}) = ${text})`,
    },
  },
  {
    name: 'not is the three-valued not of SQL',
    ask: rewritten((condition) =>
      condition.kind === 'not' ? saying(sql`not (${toSql(condition.condition, sample, sqliteDialect)})`) : undefined,
    ),
  },
  {
    name: 'and and or lack parentheses',
    ask: rewritten((condition) => {
      if ((condition.kind !== 'and' && condition.kind !== 'or') || condition.conditions.length < 2) return undefined
      return saying(
        join(
          condition.conditions.map((part) => toSql(part, sample, sqliteDialect)),
          ` ${condition.kind} `,
        ),
      )
    }),
  },
  {
    name: 'an empty or matches everything',
    ask: rewritten((condition) =>
      condition.kind === 'or' && condition.conditions.length === 0 ? saying(raw('1 = 1')) : undefined,
    ),
  },
  {
    name: 'an empty list matches everything',
    ask: modified('in', (_, { operand }) => ((operand as readonly unknown[]).length === 0 ? raw('1 = 1') : undefined)),
  },
  {
    name: 'nin matches null',
    ask: modified(
      'nin',
      (column, condition) => sql`(${is(column)} is null or ${toSql(condition, sample, sqliteDialect)})`,
    ),
  },
  {
    name: 'nin of an empty list matches nothing',
    ask: modified('nin', (column, { operand }) =>
      (operand as readonly unknown[]).length === 0 ? sql`${is(column)} is not null` : undefined,
    ),
  },
  {
    name: '!= matches null',
    ask: modified(
      '!=',
      (column, condition) => sql`(${is(column)} is null or ${toSql(condition, sample, sqliteDialect)})`,
    ),
  },
  {
    name: '> means >=',
    ask: modified(
      '>',
      (column, { attribute, operand }) => sql`${is(column)} >= ${sqliteDialect.operand(attribute, operand)}`,
    ),
  },
  {
    name: 'nulls sort last',
    dialect: {
      order: (attribute, column, direction) => `${sqliteDialect.order(attribute, column, direction)} nulls last`,
    },
  },
  {
    name: 'nulls sort first in both directions',
    dialect: {
      order: (attribute, column, direction) => `${sqliteDialect.order(attribute, column, direction)} nulls first`,
    },
  },
  { name: 'strings are ordered by UTF-16 units', before: "pragma encoding = 'UTF-16be'" },
  {
    name: 'strings are ordered case-insensitively',
    dialect: {
      order: (attribute, column, direction) =>
        `${column}${attribute.type.storedAs === 'text' ? ' collate nocase' : ''}${direction === 'desc' ? ' desc' : ''}`,
    },
  },
  {
    name: '64-bit integers are ordered as strings',
    dialect: {
      compared: (attribute, column) => (attribute.type.storedAs === 'bigint' ? `cast(${column} as text)` : column),
    },
  },
  {
    name: '64-bit integers are compared as doubles',
    dialect: {
      compared: (attribute, column) => (attribute.type.storedAs === 'bigint' ? `cast(${column} as real)` : column),
    },
  },
  {
    name: 'numbers are compared with 15 significant digits',
    dialect: {
      compared: (attribute, column) =>
        attribute.type.storedAs === 'real' ? `cast(printf('%.14e', ${column}) as real)` : column,
    },
  },
  {
    name: 'times are compared in whole seconds',
    dialect: {
      compared: (attribute, column) => (attribute.type.storedAs === 'timestamp' ? `substr(${column}, 1, 19)` : column),
    },
  },
  {
    name: 'trailing spaces are ignored',
    dialect: { compared: (attribute, column) => (attribute.type.storedAs === 'text' ? `rtrim(${column})` : column) },
  },
  { name: 'ties are not broken', ask: (criteria) => ({ ...criteria, sort: criteria.sort.slice(0, -1) }) },
  {
    name: 'ties are broken in descending order',
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
    name: 'a page starts one record too late',
    ask: (criteria) => ({ ...criteria, skip: criteria.skip === 0 ? 0 : criteria.skip + 1 }),
  },
  {
    name: 'a page has one record too many',
    ask: (criteria) => ({ ...criteria, limit: criteria.limit === 0 ? 0 : criteria.limit + 1 }),
  },
  { name: 'a cursor is ignored', ask: ({ after: _, ...criteria }) => criteria },
  { name: 'select is ignored', ask: (criteria) => ({ ...criteria, select: [...sample.attributes.values()] }) },
  {
    name: 'a condition on an association is dropped',
    ask: rewritten((condition) =>
      condition.kind === 'related' && condition.association.kind !== 'manyToMany'
        ? { ...condition, condition: { kind: 'not', condition: condition.condition } }
        : undefined,
    ),
  },
]
