import { inspect } from 'node:util'
import { isJsonObject, type Json } from '../protocol/json.ts'
import { orNearest } from '../support/nearest.ts'
import type { AttributeType } from './attribute-type.ts'
import type { ErrorListener } from './config-error.ts'
import type { IndexDefinition } from './definition.ts'
import type { Draft } from './draft.ts'
import type { Attribute, Index } from './model.ts'

/** A checked index, by attribute names: attributes are built after all definitions are valid. */
export interface IndexPlan {
  readonly columns: readonly { readonly name: string; readonly direction: 'asc' | 'desc' }[]
  readonly unique: boolean
  readonly where: readonly { readonly name: string; readonly operator: '=' | '!='; readonly value: Json }[]
}

/** The attributes of a draft that are not associations, by name. */
type Attributes = ReadonlyMap<string, Attribute>

/** Reads `index: true` of attributes and `indexes` of a model. Reports problems. */
export function declareIndexes(draft: Draft, attributes: Attributes, onError: ErrorListener): readonly IndexPlan[] {
  const plans = [...attributes.values()].filter(needsOwnIndex).map(({ name }) => indexOn(name))
  const known = new Set(plans.map((plan) => JSON.stringify(plan)))
  for (const [position, definition] of draft.indexes.entries()) {
    const plan = readIndex(definition, draft, attributes)
    const key = JSON.stringify(plan)
    if (typeof plan === 'string') onError(draft.name, `indexes[${position}]: ${plan}`)
    else if (known.has(key)) onError(draft.name, `indexes[${position}]: the same index is declared twice`)
    else plans.push(plan)
    known.add(key)
  }
  return plans
}

/** The index of a plan. */
export function linkIndex({ columns, unique, where }: IndexPlan, attributeOf: (name: string) => Attribute): Index {
  return {
    columns: columns.map(({ name, direction }) => ({ attribute: attributeOf(name), direction })),
    unique,
    where: where.map(({ name, operator, value }) => ({ attribute: attributeOf(name), operator, value })),
  }
}

/** Databases do not index the content of JSON values and bytes alike. */
export const isIndexable = ({ storedAs }: AttributeType): boolean => storedAs !== 'json' && storedAs !== 'binary'

/** Primary keys and unique attributes have an index already. */
const needsOwnIndex = ({ index, isPrimaryKey, unique }: Attribute): boolean => index && !isPrimaryKey && !unique

const indexOn = (name: string): IndexPlan => ({ columns: [{ name, direction: 'asc' }], unique: false, where: [] })

/** The plan, or the problem as a text. */
function readIndex(definition: IndexDefinition, draft: Draft, attributes: Attributes): IndexPlan | string {
  const options = 'attributes' in definition ? definition : { attributes: definition }
  const columns = options.attributes.map((term) => readTerm(term, draft, attributes))
  const conditions = Object.entries(options.where ?? {}).map(([name, raw]) =>
    readCondition(name, raw, draft, attributes),
  )
  const problem = [...columns, ...conditions].find((part) => typeof part === 'string')
  if (problem !== undefined) return problem
  const plan: IndexPlan = {
    columns: columns as IndexPlan['columns'][number][],
    unique: options.unique ?? false,
    where: conditions as IndexPlan['where'][number][],
  }
  if (plan.columns.length === 0) return 'it names no attribute'
  if (new Set(plan.columns.map(({ name }) => name)).size < plan.columns.length) return 'it names an attribute twice'
  return plan
}

/** `name`, `name ASC` or `name DESC`. */
function readTerm(term: string, draft: Draft, attributes: Attributes): IndexPlan['columns'][number] | string {
  const [name = '', direction = 'asc', ...rest] = term.trim().split(/\s+/)
  const folded = direction.toLowerCase()
  if (rest.length > 0 || (folded !== 'asc' && folded !== 'desc')) {
    return `${inspect(term)} is not an attribute with a direction, for example 'createdAt DESC'`
  }
  return attributeProblem(name, draft, attributes) ?? { name, direction: folded }
}

function readCondition(
  name: string,
  raw: Json,
  draft: Draft,
  attributes: Attributes,
): IndexPlan['where'][number] | string {
  const problem = attributeProblem(name, draft, attributes)
  if (problem !== undefined) return problem
  const isNegated = isJsonObject(raw) && Object.keys(raw).join() === '!='
  const operand = isNegated ? (raw['!='] as Json) : raw
  const type = attributes.get(name)?.type
  const value = operand === null ? null : type?.parse(operand)
  if (value !== undefined) return { name, operator: isNegated ? '!=' : '=', value }
  return `\`where\`: "${name}" can be compared with ${type === undefined ? 'null' : `${type.noun} or null`}, by equality or "!="`
}

function attributeProblem(name: string, draft: Draft, attributes: Attributes): string | undefined {
  const definition = draft.attributes.get(name)
  if (definition === undefined)
    return `there is no attribute ${inspect(name)}${orNearest(name, draft.attributes.keys())}`
  if (definition.collection !== undefined) return `${inspect(name)} is a to-many association and has no column`
  if (definition.computed !== undefined) return `${inspect(name)} is computed and has no column`
  const type = attributes.get(name)?.type
  if (type && !isIndexable(type)) return `${inspect(name)} cannot be indexed: it is ${type.noun}`
  return undefined
}
