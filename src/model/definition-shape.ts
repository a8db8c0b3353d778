import { types } from 'node:util'
import { nearest } from '../support/nearest.ts'
import { actions } from './access-rules.ts'
import { type ActionDefinition, actionSubjects } from './actions/action.ts'
import { sqlDialects } from './computed.ts'
import type { AttributeDefinition, ModelDefinition } from './definition.ts'
import { hookedWrites } from './hooks.ts'
import { onDestroyActions, writers } from './model.ts'
import { adviceFor, isWaterlineWord, renamedOptions } from './waterline/words.ts'

/** The values that an option of a definition accepts. */
interface Kind {
  readonly noun: string
  readonly accepts: (value: unknown) => boolean
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const flag: Kind = { noun: 'true or false', accepts: (value) => typeof value === 'boolean' }
const text: Kind = { noun: 'a string', accepts: (value) => typeof value === 'string' && value !== '' }
const number: Kind = { noun: 'a number', accepts: (value) => Number.isFinite(value) }
const list: Kind = { noun: 'a list', accepts: Array.isArray }
const pattern: Kind = { noun: 'a regular expression', accepts: types.isRegExp }
const call: Kind = { noun: 'a function', accepts: (value) => typeof value === 'function' }
const object: Kind = { noun: 'an object', accepts: isObject }
const anything: Kind = { noun: 'anything', accepts: () => true }
/** The schemas of some libraries are functions. */
const schema: Kind = {
  noun: 'a Standard Schema (zod, valibot, arktype)',
  accepts: (value) =>
    (isObject(value) || typeof value === 'function') &&
    typeof (value as { '~standard'?: { validate?: unknown } })['~standard']?.validate === 'function',
}
const junction: Kind = {
  noun: 'the name of a model, or { tableName, from, to }',
  accepts: (value) =>
    text.accepts(value) ||
    (isObject(value) &&
      Object.keys(value).sort().join() === 'from,tableName,to' &&
      Object.values(value).every(text.accepts)),
}
const indexes: Kind = {
  noun: 'a list of indexes, each a list of attributes or { attributes, unique, where }',
  accepts: (value) => Array.isArray(value) && value.every(isIndexDefinition),
}
const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every(text.accepts)
function isIndexDefinition(value: unknown): boolean {
  if (!isObject(value)) return isTextList(value)
  const { attributes, unique = false, where = {}, ...others } = value as Record<string, unknown>
  return isTextList(attributes) && flag.accepts(unique) && isObject(where) && Object.keys(others).length === 0
}

const isRule = (value: unknown): boolean => flag.accepts(value) || text.accepts(value) || call.accepts(value)
const rulesFor = (value: unknown, names: readonly string[]): boolean =>
  isObject(value) &&
  Object.entries(value).every(([name, rule]) => names.includes(name) && (rule === undefined || isRule(rule)))
const attributeAccess: Kind = {
  noun: 'an object of rules for `read` and `write`: true, false, a role, or a function',
  accepts: (value) => rulesFor(value, ['read', 'write']),
}
const access: Kind = {
  noun: `'public', or an object of rules for ${actions.map((action) => `\`${action}\``).join(', ')}: true, false, a role, or a function`,
  accepts: (value) => value === 'public' || rulesFor(value, actions),
}

const functionsFor = (value: unknown): boolean =>
  isObject(value) &&
  Object.entries(value).every(
    ([name, hook]) =>
      (hookedWrites as readonly string[]).includes(name) && (hook === undefined || typeof hook === 'function'),
  )
const hooks: Kind = {
  noun: `an object with \`before\` and \`within\`, each an object of functions for ${hookedWrites.map((write) => `\`${write}\``).join(', ')}`,
  accepts: (value) =>
    isObject(value) &&
    Object.entries(value).every(
      ([moment, functions]) =>
        ['before', 'within'].includes(moment) && (functions === undefined || functionsFor(functions)),
    ),
}

const onDestroy: Kind = {
  noun: onDestroyActions.map((action) => `'${action}'`).join(', '),
  accepts: (value) => (onDestroyActions as readonly unknown[]).includes(value),
}

const names: Kind = {
  noun: 'a list of names of attributes',
  accepts: (value) => isTextList(value) && (value as readonly string[]).length > 0,
}
const expression: Kind = {
  noun: `a function, or an object of functions for ${sqlDialects.map((dialect) => `\`${dialect}\``).join(' and ')}`,
  accepts: (value) =>
    typeof value === 'function' ||
    (isObject(value) &&
      Object.keys(value).sort().join() === [...sqlDialects].sort().join() &&
      Object.values(value).every((part) => typeof part === 'function')),
}

const attributeOptions: { readonly [Option in keyof AttributeDefinition]-?: Kind } = {
  type: text,
  columnName: text,
  columnType: text,
  primaryKey: flag,
  autoIncrement: flag,
  autoCreatedAt: flag,
  autoUpdatedAt: flag,
  unique: flag,
  index: flag,
  hidden: flag,
  required: flag,
  allowNull: flag,
  defaultsTo: anything,
  isIn: list,
  min: number,
  max: number,
  minLength: number,
  maxLength: number,
  isEmail: flag,
  isURL: flag,
  isInteger: flag,
  isUUID: flag,
  regex: pattern,
  custom: call,
  schema,
  access: attributeAccess,
  readOnly: flag,
  computed: names,
  get: call,
  sql: expression,
  description: text,
  model: text,
  onDestroy,
  collection: text,
  via: text,
  through: junction,
}

const oneOf = (values: readonly string[]): Kind => ({
  noun: values.map((value) => `'${value}'`).join(' or '),
  accepts: (value) => values.includes(value as string),
})
const modelOptions: { readonly [Option in keyof ModelDefinition]-?: Kind } = {
  tableName: text,
  primaryKey: text,
  attributes: object,
  indexes,
  access,
  hooks,
  actions: object,
  on: anything,
  writers: oneOf(writers),
  description: text,
}

const actionOptions: { readonly [Option in Exclude<keyof ActionDefinition, 'types'>]-?: Kind } = {
  on: oneOf(actionSubjects),
  input: schema,
  result: schema,
  access: { noun: 'true, false, a role, or a function', accepts: isRule },
  method: oneOf(['POST', 'GET']),
  transaction: flag,
  description: text,
  run: call,
}

/** The valid options of a definition, and the problems of the others. An unknown option is a problem. */
export interface CheckedShape<Definition> {
  readonly valid: Definition
  readonly problems: readonly string[]
}

export const shapeModel = (definition: unknown): CheckedShape<ModelDefinition> =>
  shape(definition, modelOptions, 'a model')

export function shapeAttribute(definition: unknown, name: string): CheckedShape<AttributeDefinition> {
  const { valid, problems } = shape(definition, attributeOptions, 'an attribute')
  if (typeof definition === 'function')
    return { valid, problems: [`functions are not run. Instead, ${adviceFor(name)}`] }
  if (typeof definition === 'string')
    return { valid, problems: problems.map((text) => `${text}, such as { type: 'string' }`) }
  return { valid, problems }
}

export const shapeAction = (definition: unknown): CheckedShape<Partial<ActionDefinition>> =>
  shape(definition, actionOptions, 'an action')

function shape(definition: unknown, options: { readonly [option: string]: Kind }, what: string): CheckedShape<object> {
  if (!isObject(definition)) return { valid: {}, problems: [`the definition of ${what} must be an object`] }
  const valid: Record<string, unknown> = {}
  const problems: string[] = []
  for (const [option, value] of Object.entries(definition)) {
    const kind = Object.hasOwn(options, option) ? options[option] : undefined
    if (value === undefined) continue
    if (kind === undefined)
      problems.push(`\`${option}\` is not an option of ${what}${hint(option, value, Object.keys(options))}`)
    else if (kind.accepts(value)) valid[option] = value
    else problems.push(`\`${option}\` must be ${kind.noun}`)
  }
  return { valid, problems }
}

const isAttributeLike = (value: unknown): boolean =>
  isObject(value) && ['type', 'model', 'collection'].some((option) => Object.hasOwn(value, option))

/** A similar option, or what replaces an option of Waterline. */
function hint(option: string, value: unknown, known: readonly string[]): string {
  const renamed = Object.hasOwn(renamedOptions, option) ? renamedOptions[option] : undefined
  const near = renamed ?? nearest(option, known)
  if (near !== undefined) return `; did you mean \`${near}\`?`
  if (known.includes('attributes') && isAttributeLike(value)) return '; attributes are declared in `attributes`'
  if (typeof value === 'function') return `: functions are not run. Instead, ${adviceFor(option)}`
  return isWaterlineWord(option) ? "; `compatibility: 'sails'` reads models of Sails" : ''
}

/** The options of associations. */
export const toOneOptions = [
  'model',
  'columnName',
  'columnType',
  'required',
  'allowNull',
  'unique',
  'index',
  'access',
  'hidden',
  'readOnly',
  'onDestroy',
  'description',
]
export const toManyOptions = ['collection', 'via', 'through', 'description']

/** The options that cannot be used together and would be ignored. */
export function combinationProblems(definition: AttributeDefinition): string[] {
  const { model, collection } = definition
  if (model !== undefined && collection !== undefined) return ['`model` and `collection` cannot be used together']
  if (model !== undefined) return unsupported(definition, toOneOptions, '`model`')
  if (collection !== undefined) return unsupported(definition, toManyOptions, '`collection`')
  const needed = { via: 'collection', through: 'collection', onDestroy: 'model' }
  return Object.entries(needed)
    .filter(([option]) => Object.hasOwn(definition, option))
    .map(([option, association]) => `\`${option}\` needs a \`${association}\``)
}

function unsupported(definition: AttributeDefinition, options: readonly string[], kind: string): string[] {
  return Object.entries(definition)
    .filter(([option, value]) => !options.includes(option) && (value !== false || option === 'defaultsTo'))
    .map(([option]) => `\`${option}\` cannot be used with ${kind}`)
}
