import { inspect } from 'node:util'
import type { Json } from '../protocol/json.ts'
import type { AttributeType } from './attribute-type.ts'
import { columnTypeProblem, plainColumnType } from './column-type.ts'
import { isIndexable } from './declare-indexes.ts'
import type { AttributeDefinition } from './definition.ts'
import { type Attribute, plainAttribute } from './model.ts'
import { type Rule, rulesOf } from './rules.ts'
import { attributeTypeOf } from './types.ts'
import { validateBySchema } from './validate-by-schema.ts'
import { typeHint } from './waterline/words.ts'

/** The attribute of a definition, or the problems of the definition. Not for associations. */
export function declareAttribute(
  name: string,
  definition: AttributeDefinition,
  isPrimaryKey: boolean,
  readRules = rulesOf,
): Attribute | readonly string[] {
  // A numeric key is an integer, as in Sails.
  const isNumericKey = isPrimaryKey && definition.type === 'number'
  const type = attributeTypeOf(isNumericKey ? { ...definition, isInteger: true } : definition)
  if (typeof type === 'string') return [`${type}${typeHint(definition.type)}`]

  const { rules, problems, emptyIsNull = false } = readRules(definition, type)
  const value = readDefault(definition, type, rules)
  const columnProblem = columnTypeProblem(definition.columnType)
  const all = [
    ...(columnProblem === undefined ? [] : [columnProblem]),
    ...problems,
    ...optionProblems(definition, type, isPrimaryKey),
    ...nullabilityProblems(definition, isPrimaryKey),
    ...(isPrimaryKey ? keyProblems(definition, type) : []),
    ...('problem' in value ? [value.problem] : []),
  ]
  if (all.length > 0 || 'problem' in value) return all

  const isAutomatic = definition.autoIncrement === true || definition.defaultsTo !== undefined
  const isUuidKey = isPrimaryKey && type.storedAs === 'uuid'
  return {
    ...plainAttribute(name, type),
    column: definition.columnName ?? name,
    columnType: definition.columnType && plainColumnType(definition.columnType),
    isPrimaryKey,
    required: definition.required === true || (isPrimaryKey && !isAutomatic && !isUuidKey),
    nullable: isNullable(definition, isPrimaryKey),
    emptyIsNull: emptyIsNull && isNullable(definition, isPrimaryKey),
    unique: !isPrimaryKey && definition.unique === true,
    index: definition.index === true,
    hidden: definition.hidden === true,
    autoIncrement: definition.autoIncrement === true,
    generated: isUuidKey && !isAutomatic && definition.required !== true,
    autoCreatedAt: definition.autoCreatedAt === true,
    autoUpdatedAt: definition.autoUpdatedAt === true,
    defaultsTo: value.defaultsTo,
    rules,
    schema: definition.schema,
    ...accessOf(definition),
  }
}

/** What `access` and `readOnly` declare. */
export const accessOf = ({ access, readOnly }: AttributeDefinition) => ({
  access,
  readOnly: readOnly === true,
})

/** Whether the client or the service always sets a value. Null then needs `allowNull`. */
const isNeverAbsent = (definition: AttributeDefinition, isPrimaryKey: boolean): boolean =>
  isPrimaryKey || definition.required === true || definition.defaultsTo !== undefined || isTimestamp(definition)

const isTimestamp = (definition: AttributeDefinition): boolean =>
  definition.autoCreatedAt === true || definition.autoUpdatedAt === true

export const isNullable = (definition: AttributeDefinition, isPrimaryKey: boolean): boolean =>
  definition.allowNull ?? !isNeverAbsent(definition, isPrimaryKey)

export function nullabilityProblems(definition: AttributeDefinition, isPrimaryKey: boolean): string[] {
  return definition.allowNull === false && !isNeverAbsent(definition, isPrimaryKey)
    ? ['`allowNull: false` needs `required` or `defaultsTo`: an omitted value would be stored as null']
    : []
}

/** Options that the type does not support, or that exclude each other. */
function optionProblems(definition: AttributeDefinition, type: AttributeType, isPrimaryKey: boolean): string[] {
  const { autoIncrement, autoCreatedAt, autoUpdatedAt, required, defaultsTo, unique, index, schema } = definition
  const { storedAs, noun } = type
  const problems: string[] = []
  const refuseIf = (condition: boolean | undefined, problem: string): void => {
    if (condition) problems.push(problem)
  }
  refuseIf(
    required && defaultsTo !== undefined,
    '`required` cannot be used with `defaultsTo`: a required attribute is always given',
  )
  refuseIf(schema && storedAs !== 'json', `\`schema\` cannot be used with ${noun}: it is for JSON`)
  refuseIf(unique && !isIndexable(type), `\`unique\` cannot be used with ${noun}`)
  refuseIf(index && !isIndexable(type), `\`index\` cannot be used with ${noun}`)
  if (autoIncrement) {
    refuseIf(storedAs !== 'integer' && storedAs !== 'bigint', `\`autoIncrement\` cannot be used with ${noun}`)
    refuseIf(!isPrimaryKey, '`autoIncrement` is only supported for the primary key')
    refuseIf(required, '`required` cannot be used with `autoIncrement`: the database generates the value')
    refuseIf(
      defaultsTo !== undefined,
      '`defaultsTo` cannot be used with `autoIncrement`: the database generates the value',
    )
  }
  if (isTimestamp(definition)) {
    const word = autoCreatedAt ? 'autoCreatedAt' : 'autoUpdatedAt'
    refuseIf(autoCreatedAt && autoUpdatedAt, '`autoCreatedAt` and `autoUpdatedAt` cannot be used together')
    refuseIf(!['timestamp', 'integer', 'bigint', 'text'].includes(storedAs), `\`${word}\` cannot be used with ${noun}`)
    refuseIf(required, `\`required\` cannot be used with \`${word}\`: the service sets the value`)
    refuseIf(defaultsTo !== undefined, `\`defaultsTo\` cannot be used with \`${word}\`: the service sets the value`)
  }
  return problems
}

function keyProblems(definition: AttributeDefinition, { storedAs, noun }: AttributeType): string[] {
  const problems: string[] = []
  if (!['text', 'uuid', 'integer', 'bigint'].includes(storedAs)) problems.push(`a primary key cannot be ${noun}`)
  if (definition.hidden) problems.push('`hidden` cannot be used with a primary key')
  if (definition.allowNull) problems.push('`allowNull` cannot be used with a primary key')
  if (definition.access?.read !== undefined)
    problems.push(
      '`access.read` cannot be used with a primary key: every response and every event names the record by it',
    )
  if (isTimestamp(definition))
    problems.push('a primary key cannot be a timestamp: two records may be created at the same time')
  if (definition.defaultsTo !== undefined && typeof definition.defaultsTo !== 'function') {
    problems.push('`defaultsTo` of a primary key must be a function: a constant is not unique')
  }
  return problems
}

type Default = { readonly defaultsTo: Attribute['defaultsTo'] } | { readonly problem: string }

function readDefault(definition: AttributeDefinition, type: AttributeType, rules: readonly Rule[]): Default {
  const { defaultsTo, schema } = definition
  if (defaultsTo === undefined) return { defaultsTo }
  if (defaultsTo === null) return { problem: '`defaultsTo: null` has no effect: an omitted attribute is null' }
  if (typeof defaultsTo === 'function') {
    return defaultsTo.constructor.name === 'AsyncFunction'
      ? { problem: '`defaultsTo` must be synchronous' }
      : { defaultsTo }
  }
  const value = type.parse(defaultsTo)
  if (value === undefined) return { problem: `\`defaultsTo\` ${inspect(defaultsTo)} is not ${type.noun}` }
  for (const rule of rules) {
    const message = rule.check(value)
    if (message !== undefined) return { problem: `\`defaultsTo\` ${inspect(defaultsTo)} ${message}` }
  }
  return schema && type.storedAs === 'json' ? applySchema(schema, type, value) : { defaultsTo: value }
}

function applySchema(schema: NonNullable<AttributeDefinition['schema']>, type: AttributeType, value: Json): Default {
  try {
    const result = validateBySchema(schema, type, value)
    if (result instanceof Promise) {
      result.catch(() => undefined)
      return { problem: '`defaultsTo` must be a function if the `schema` is asynchronous' }
    }
    if ('violations' in result) return { problem: `\`defaultsTo\` ${result.violations[0]?.message}` }
    return result.value === null
      ? { problem: '`schema` transforms `defaultsTo` to null' }
      : { defaultsTo: result.value }
  } catch (error) {
    return { problem: `\`schema\` fails for \`defaultsTo\`: ${(error as Error).message}` }
  }
}
