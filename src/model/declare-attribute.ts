import { inspect } from 'node:util'
import type { Json } from '../protocol/json.ts'
import { askSchema } from './ask-schema.ts'
import type { AttributeType } from './attribute-type.ts'
import type { AttributeDefinition } from './definition.ts'
import type { Attribute } from './model.ts'
import { type Rule, rulesOf } from './rules.ts'
import { attributeTypeOf } from './types.ts'

/** The attribute that a definition means, or what is wrong with the definition. Not for associations. */
export function declareAttribute(
  name: string,
  definition: AttributeDefinition,
  isPrimaryKey: boolean,
): Attribute | readonly string[] {
  // The ancestor counts its keys in whole numbers, and so does everybody else.
  const isNumericKey = isPrimaryKey && definition.type === 'number'
  const type = attributeTypeOf(isNumericKey ? { ...definition, isInteger: true } : definition)
  if (typeof type === 'string') return [type]

  const { rules, problems } = rulesOf(definition, type)
  const value = readDefault(definition, type, rules)
  const all = [
    ...problems,
    ...fittingProblems(definition, type, isPrimaryKey),
    ...nullabilityProblems(definition, isPrimaryKey),
    ...(isPrimaryKey ? keyProblems(definition, type) : []),
    ...('problem' in value ? [value.problem] : []),
  ]
  if (all.length > 0 || 'problem' in value) return all

  const isAutomatic = definition.autoIncrement === true || definition.defaultsTo !== undefined
  const isUuidKey = isPrimaryKey && type.storedAs === 'uuid'
  return {
    name,
    column: definition.columnName ?? name,
    type,
    columnType: definition.columnType,
    isPrimaryKey,
    required: definition.required === true || (isPrimaryKey && !isAutomatic && !isUuidKey),
    nullable: isNullable(definition, isPrimaryKey),
    unique: !isPrimaryKey && definition.unique === true,
    autoIncrement: definition.autoIncrement === true,
    generated: isUuidKey && !isAutomatic && definition.required !== true,
    autoCreatedAt: definition.autoCreatedAt === true,
    autoUpdatedAt: definition.autoUpdatedAt === true,
    defaultsTo: value.defaultsTo,
    rules,
    schema: definition.schema,
    references: undefined,
  }
}

/** Somebody always gives it a value: the client, because it must, or we. Null needs a word of its own then. */
const isNeverAbsent = (definition: AttributeDefinition, isPrimaryKey: boolean): boolean =>
  isPrimaryKey || definition.required === true || definition.defaultsTo !== undefined || isStamp(definition)

const isStamp = (definition: AttributeDefinition): boolean =>
  definition.autoCreatedAt === true || definition.autoUpdatedAt === true

export const isNullable = (definition: AttributeDefinition, isPrimaryKey: boolean): boolean =>
  definition.allowNull ?? !isNeverAbsent(definition, isPrimaryKey)

export function nullabilityProblems(definition: AttributeDefinition, isPrimaryKey: boolean): string[] {
  return definition.allowNull === false && !isNeverAbsent(definition, isPrimaryKey)
    ? ['`allowNull: false` needs `required` or `defaultsTo`: there is nothing to store when nobody gives a value']
    : []
}

/** Words that do not go with the type, or with each other. */
function fittingProblems(definition: AttributeDefinition, type: AttributeType, isPrimaryKey: boolean): string[] {
  const { autoIncrement, autoCreatedAt, autoUpdatedAt, required, defaultsTo, unique, schema } = definition
  const { storedAs, noun } = type
  const problems: string[] = []
  const refuseIf = (condition: boolean | undefined, problem: string): void => {
    if (condition) problems.push(problem)
  }
  refuseIf(required && defaultsTo !== undefined, '`required` leaves nothing to do for `defaultsTo`')
  refuseIf(schema && storedAs !== 'json', `\`schema\` does not go with ${noun}: it is for JSON`)
  refuseIf(unique && (storedAs === 'json' || storedAs === 'binary'), `\`unique\` does not go with ${noun}`)
  if (autoIncrement) {
    refuseIf(storedAs !== 'integer' && storedAs !== 'bigint', `\`autoIncrement\` does not go with ${noun}`)
    refuseIf(!isPrimaryKey, '`autoIncrement` is for the primary key: not every database counts anything else')
    refuseIf(required, '`required` does not go with `autoIncrement`: the database gives the value')
    refuseIf(defaultsTo !== undefined, '`defaultsTo` does not go with `autoIncrement`: the database gives the value')
  }
  if (isStamp(definition)) {
    const word = autoCreatedAt ? 'autoCreatedAt' : 'autoUpdatedAt'
    refuseIf(autoCreatedAt && autoUpdatedAt, '`autoCreatedAt` and `autoUpdatedAt` cannot both be')
    refuseIf(!['timestamp', 'integer', 'bigint', 'text'].includes(storedAs), `\`${word}\` does not go with ${noun}`)
    refuseIf(required, `\`required\` does not go with \`${word}\`: we give the value`)
    refuseIf(defaultsTo !== undefined, `\`defaultsTo\` does not go with \`${word}\`: we give the value`)
  }
  return problems
}

function keyProblems(definition: AttributeDefinition, { storedAs, noun }: AttributeType): string[] {
  const problems: string[] = []
  if (!['text', 'uuid', 'integer', 'bigint'].includes(storedAs)) problems.push(`a primary key cannot be ${noun}`)
  if (definition.allowNull) problems.push('`allowNull` does not go with a primary key')
  if (isStamp(definition)) problems.push('a primary key cannot be a time: two records may be made at once')
  if (definition.defaultsTo !== undefined && typeof definition.defaultsTo !== 'function') {
    problems.push('`defaultsTo` of a primary key must be a function: the second record would have the key of the first')
  }
  return problems
}

type Default = { readonly defaultsTo: Attribute['defaultsTo'] } | { readonly problem: string }

function readDefault(definition: AttributeDefinition, type: AttributeType, rules: readonly Rule[]): Default {
  const { defaultsTo, schema } = definition
  if (defaultsTo === undefined) return { defaultsTo }
  if (defaultsTo === null) return { problem: '`defaultsTo: null` says nothing: what nobody gives is null already' }
  if (typeof defaultsTo === 'function') {
    return defaultsTo.constructor.name === 'AsyncFunction'
      ? { problem: '`defaultsTo` must answer at once' }
      : { defaultsTo }
  }
  const value = type.parse(defaultsTo)
  if (value === undefined) return { problem: `\`defaultsTo\` ${inspect(defaultsTo)} is not ${type.noun}` }
  for (const rule of rules) {
    const message = rule.check(value)
    if (message !== undefined) return { problem: `\`defaultsTo\` ${inspect(defaultsTo)} ${message}` }
  }
  return schema && type.storedAs === 'json' ? askSchemaNow(schema, type, value) : { defaultsTo: value }
}

function askSchemaNow(schema: NonNullable<AttributeDefinition['schema']>, type: AttributeType, value: Json): Default {
  try {
    const verdict = askSchema(schema, type, value)
    if (verdict instanceof Promise) {
      verdict.catch(() => undefined)
      return { problem: '`defaultsTo` must be a function when the `schema` answers later: it cannot be asked now' }
    }
    if ('violations' in verdict) return { problem: `\`defaultsTo\` ${verdict.violations[0]?.message}` }
    return verdict.value === null ? { problem: '`schema` makes null of `defaultsTo`' } : { defaultsTo: verdict.value }
  } catch (error) {
    return { problem: `\`schema\` fails on \`defaultsTo\`: ${(error as Error).message}` }
  }
}
