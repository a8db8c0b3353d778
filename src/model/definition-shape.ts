import { nearest } from '../support/nearest.ts'
import { type ActionDefinition, actionSubjects } from './actions/action.ts'
import type { AttributeDefinition, ModelDefinition } from './definition.ts'
import * as kinds from './definition-kinds.ts'
import { isObject, type Kind, oneOf, problemsOf } from './definition-kinds.ts'
import { writers } from './model.ts'
import { adviceFor, isWaterlineWord, refusedOptions, renamedOptions } from './waterline/words.ts'

const attributeOptions: { readonly [Option in keyof AttributeDefinition]-?: Kind } = {
  type: kinds.text,
  columnName: kinds.text,
  columnType: kinds.text,
  primaryKey: kinds.flag,
  autoIncrement: kinds.flag,
  autoCreatedAt: kinds.flag,
  autoUpdatedAt: kinds.flag,
  unique: kinds.flag,
  index: kinds.flag,
  hidden: kinds.flag,
  required: kinds.flag,
  allowNull: kinds.flag,
  defaultsTo: kinds.anything,
  isIn: kinds.list,
  min: kinds.number,
  max: kinds.number,
  minLength: kinds.number,
  maxLength: kinds.number,
  isEmail: kinds.flag,
  isURL: kinds.flag,
  isInteger: kinds.flag,
  isUUID: kinds.flag,
  regex: kinds.pattern,
  custom: kinds.call,
  schema: kinds.schema,
  access: kinds.attributeAccess,
  readOnly: kinds.flag,
  computed: kinds.names,
  get: kinds.call,
  sql: kinds.expression,
  description: kinds.text,
  model: kinds.text,
  onDestroy: kinds.onDestroy,
  collection: kinds.text,
  via: kinds.text,
  through: kinds.junction,
}

const modelOptions: { readonly [Option in keyof ModelDefinition]-?: Kind } = {
  tableName: kinds.text,
  primaryKey: kinds.text,
  attributes: kinds.object,
  indexes: kinds.indexes,
  access: kinds.access,
  hooks: kinds.hooks,
  actions: kinds.object,
  on: kinds.anything,
  writers: oneOf(writers),
  description: kinds.text,
}

export const modelOptionNames: readonly string[] = Object.keys(modelOptions)

const actionOptions: { readonly [Option in Exclude<keyof ActionDefinition, 'types'>]-?: Kind } = {
  on: oneOf(actionSubjects),
  input: kinds.schema,
  result: kinds.schema,
  access: kinds.rule,
  method: oneOf(['POST', 'GET']),
  transaction: kinds.flag,
  description: kinds.text,
  run: kinds.call,
}

/** The valid options of a definition, and the problems of the others. An unknown option is a problem. */
export interface CheckedShape<Definition> {
  readonly valid: Definition
  readonly problems: readonly string[]
}

export const shapeModel = (definition: unknown): CheckedShape<ModelDefinition> =>
  shape(definition, modelOptions, 'a model')

/** The types of models in other libraries are functions of JavaScript. */
const typesOfFunctions: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [String, 'string'],
  [Number, 'number'],
  [BigInt, 'bigint'],
  [Boolean, 'boolean'],
  [Date, 'datetime'],
  [Object, 'json'],
  [Array, 'json'],
])

export function shapeAttribute(definition: unknown, name: string): CheckedShape<AttributeDefinition> {
  if (isObject(definition)) {
    const { type, ...others } = definition
    const named = typesOfFunctions.get(type)
    if (named !== undefined) {
      const { valid, problems } = shapeAttribute({ ...others, type: named }, name)
      return { valid, problems: [`types are named by texts: write type: '${named}'`, ...problems] }
    }
  }
  const { valid, problems } = shape(definition, attributeOptions, 'an attribute')
  const type = typesOfFunctions.get(definition)
  if (type !== undefined)
    return { valid, problems: [`the definition of an attribute must be an object: { type: '${type}' }`] }
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
    else problems.push(...problemsOf(kind, value, option))
  }
  return { valid, problems }
}

const isAttributeLike = (value: unknown): boolean =>
  isObject(value) && ['type', 'model', 'collection'].some((option) => Object.hasOwn(value, option))

/** A similar option, or what replaces an option of Waterline. */
function hint(option: string, value: unknown, known: readonly string[]): string {
  const renamed = Object.hasOwn(renamedOptions, option) ? renamedOptions[option] : undefined
  if (Object.hasOwn(refusedOptions, option)) return `: ${refusedOptions[option]}`
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
