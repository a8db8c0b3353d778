import { deepStrictEqual } from 'node:assert'
import { type Criteria, orderByPrimaryKey } from '../../../src/criteria/criteria.ts'
import { parseSelect } from '../../../src/criteria/parse-select.ts'
import { parseSort } from '../../../src/criteria/parse-sort.ts'
import { parseWhere } from '../../../src/criteria/parse-where.ts'
import { orderBy, toSql } from '../../../src/criteria/to-sql.ts'
import type { Assignment } from '../../../src/model/assignment.ts'
import type { Attribute } from '../../../src/model/model.ts'
import type { Json } from '../../../src/protocol/json.ts'
import type { Dialect } from '../../../src/sql/dialect.ts'
import { textOf } from '../../../src/sql/sql.ts'
import { encodeList, type Records, type Store } from '../../../src/storage/store.ts'
import { defaultLimits } from '../../../src/support/limits.ts'
import type { Question, Row } from './generate.ts'
import { attributeOf, junction, models, sample } from './sample.ts'

export interface Subject {
  readonly name: string
  readonly store: Store
  /** For reports; absent for a store without SQL. */
  readonly dialect?: Dialect
  /** Replaces the criteria: for stores that are wrong on purpose. */
  readonly ask?: (criteria: Criteria) => Criteria
}

const limits = { ...defaultLimits, maxDepth: 20 }

export function criteriaOf({ where, sort, limit, skip, select }: Question): Criteria {
  return {
    where: parseWhere(where, sample, limits),
    sort: parseSort(sort, sample, limits),
    limit,
    skip,
    select: parseSelect(['id', ...select], undefined, sample, limits),
  }
}

/** Replaces all rows by these, with keys from 1. */
export async function load({ store }: Subject, rows: readonly Row[]): Promise<void> {
  const everything = parseWhere({}, sample, limits)
  await store.transaction(async (transaction) => {
    await transaction.delete(junction, everything)
    await transaction.update(sample, parseWhere({ parent: { '!=': null } }, sample, limits), [
      { attribute: attributeOf('parent'), value: null },
    ])
    await transaction.delete(sample, everything)
    for (const [index, row] of rows.entries()) {
      const { values, parent } = row
      // Only earlier rows can be referred to.
      const key = parent === null || parent >= index ? null : parent + 1
      const given: Readonly<Record<string, Json>> = { ...values, id: index + 1, parent: key }
      const assignments = [...sample.attributes.values()].map(
        (attribute): Assignment => ({ attribute, value: given[attribute.name] ?? null }),
      )
      await transaction.insert(sample, assignments)
      for (const friend of row.friends) {
        const [near, far] = junction.key as readonly [Attribute, Attribute]
        const pair = [
          { attribute: near, value: index + 1 },
          { attribute: far, value: Math.min(friend, index) + 1 },
        ]
        await transaction.insertMissing(junction, pair)
      }
    }
  })
}

/** The answers of a store to a question, in a form that can be compared. */
interface Answer {
  readonly page: Json
  readonly nextPage: Json
  readonly count: number
  readonly children: Json
  readonly friends: Json
  readonly parents: Json
}

/** Every statement gets its own criteria: a store may cache compiled statements on them. */
async function answerOf({ store, ask = (criteria) => criteria }: Subject, question: Question): Promise<Answer> {
  const criteria = (more: Partial<Criteria> = {}) => ask({ ...criteriaOf(question), ...more })
  const page = await store.find(sample, criteria())
  const next = page.next && (await store.find(sample, criteria({ skip: 0, after: page.next })))
  return {
    page: contentOf(page),
    nextPage: next ? contentOf(next) : null,
    count: await store.count(sample, criteria().where),
    children: await related(store, 'children', criteria()),
    friends: await related(store, 'friends', criteria()),
    parents: await related(store, 'parent', criteria({ sort: orderByPrimaryKey(sample), limit: 1, skip: 0 })),
  }
}

async function related(store: Store, name: string, criteria: Criteria): Promise<Json> {
  const association = sample.associations.get(name)
  if (!association) throw new Error(`no association ${name}`)
  const { records, ends } = await store.related(association, [3, 1, 2, 99], criteria)
  return { records: contentOf(records), ends }
}

/** Encoded and decoded records must be equal. */
function contentOf(records: Records): Json {
  const decoded = records.decode()
  deepStrictEqual(JSON.parse(encodeList(records)), JSON.parse(JSON.stringify(decoded)), 'encoded and decoded differ')
  return decoded
}

/** Throws with the full context when the second store does not answer like the first. */
export async function compare(
  reference: Subject,
  subject: Subject,
  rows: readonly Row[],
  question: Question,
): Promise<void> {
  const expected = await answerOf(reference, question)
  try {
    deepStrictEqual(await answerOf(subject, question), expected)
  } catch (error) {
    throw new Error(onError(reference, subject, rows, question, (error as Error).message), { cause: error })
  }
}

function onError(
  reference: Subject,
  subject: Subject,
  rows: readonly Row[],
  question: Question,
  difference: string,
): string {
  return [
    `${subject.name} does not answer as ${reference.name} does`,
    `where   ${JSON.stringify(question.where)}`,
    `sort    ${question.sort.join(', ') || 'by key'}, limit ${question.limit}, skip ${question.skip}, select ${question.select.join()}`,
    ...rows.map((row, index) => `row ${index + 1}   ${JSON.stringify(row)}`),
    ...[reference, subject].flatMap(({ name, dialect }) => (dialect ? [`${name}: ${sqlOf(question, dialect)}`] : [])),
    `+ ${subject.name}, - ${reference.name}`,
    difference,
  ].join('\n')
}

export function sqlOf(question: Question, dialect: Dialect): string {
  const { where, sort } = criteriaOf(question)
  const condition = toSql(where, sample, dialect)
  const text = `where ${textOf(condition, dialect.placeholder)} order by ${orderBy(sort, sample, dialect)}`
  const values = condition.values.map((value) => (typeof value === 'bigint' ? `${value}n` : JSON.stringify(value)))
  return `${text} [${values.join(', ')}]`
}

export { models }
