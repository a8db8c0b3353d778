import type { Json } from '../../protocol/json.ts'
import { toManyOptions, toOneOptions } from '../definition-shape.ts'
import { checkedRules, ignoredOptions, refusesEmpty, renamedOptions, typeWords } from './words.ts'

/** Options under construction. */
type Options = Record<string, unknown>

/** The options of this package that are functions, or must be refused where they are. Other functions are of the application. */
const optionsOfFunctions: ReadonlySet<string> = new Set('custom defaultsTo schema computed get sql access'.split(' '))

/** Takes the name of an option with a function as value, which is not run. */
type OnFunction = (option: string) => void

/**
 * An attribute of Waterline 0.x or 1.x in the options of this package. Unknown options are kept, so that they are refused
 * like those of any definition. `ownTypes` are names of the application's own validation functions, which are not run.
 */
export function translateAttribute(
  definition: object | string,
  ownTypes: readonly string[],
  onFunction: OnFunction,
): Options {
  const given = flatten(typeof definition === 'string' ? { type: definition } : definition)
  const options: Options = typeOf(given)
  const rules: Rule[] = typeRules(given.type)
  for (const [name, value] of Object.entries(given)) {
    const isSet = value !== undefined && value !== null && value !== false
    if (name === 'type' || name === 'size' || name === 'notNull' || ignoredOptions.has(name)) continue
    if (ownTypes.includes(name) || (typeof value === 'function' && !optionsOfFunctions.has(name))) {
      onFunction(name)
    } else if (Object.hasOwn(checkedRules, name)) {
      if (isSet) rules.push({ name, parameter: value })
    } else if (Object.hasOwn(renamedOptions, name)) {
      if (isSet) options[renamedOptions[name] as string] = value
    } else if (name === 'defaultsTo') {
      if (value !== null) options.defaultsTo = plainDefault(value)
    } else if (name === 'unique' || name === 'required' || name === 'index') {
      if (isSet) options[name] = true
    } else if (name !== 'columnType' || !String(value).startsWith('_')) {
      options[name] = value
    }
  }
  if (options.model !== undefined) return pick(options, toOneOptions)
  if (options.collection !== undefined) return pick(options, toManyOptions)
  return withRules(settle(options, given), rules)
}

/** `autoMigrations` and `validations` contain options that other versions have beside them. */
function flatten(definition: object): Options {
  const { autoMigrations, validations, ...own } = definition as Options
  return { ...(autoMigrations as object), ...(validations as object), ...own }
}

function typeOf({ type, enum: values, columnType, autoIncrement }: Options): Options {
  if (type === undefined) return values === undefined ? {} : { type: 'string' }
  const folded = String(type).toLowerCase()
  // Adapters of Sails read such a column as a time in ISO 8601.
  if (folded === 'string' && timeColumn.test(String(columnType))) return { type: 'datetime' }
  // Such a key is a number of the database, which adapters of Sails read as a text.
  if (folded === 'string' && autoIncrement === true) return { type: 'bigint' }
  if (Object.hasOwn(typeWords, folded)) return { ...typeWords[folded] }
  return { type: typeRules(type).length > 0 ? 'string' : type }
}

/** In 0.x a rule without a parameter may be the type of an attribute: a text that fulfils the rule. */
function typeRules(type: unknown): Rule[] {
  const name = String(type).toLowerCase()
  const isRule = !Object.hasOwn(typeWords, name) && Object.hasOwn(checkedRules, name)
  return isRule && checkedRules[name]?.test.length === 1 ? [{ name, parameter: true }] : []
}

const timeColumn = /^(datetime|timestamp|timestamptz)\b/i

/** Resolves the options that depend on each other. */
function settle(options: Options, { size, notNull }: Options): Options {
  const isAutomatic = options.autoIncrement || options.autoCreatedAt || options.autoUpdatedAt
  const settled: Options = { ...options }
  if (options.type === 'string' && typeof size === 'number') settled.maxLength ??= size
  if (options.type === 'string' && options.isInteger) delete settled.isInteger
  if (notNull === true) settled.required = true
  if (options.defaultsTo !== undefined || isAutomatic) delete settled.required
  if (isAutomatic) delete settled.defaultsTo
  if (options.primaryKey || options.allowNull === false) delete settled.allowNull
  return settled
}

interface Rule {
  readonly name: string
  readonly parameter: unknown
}

function withRules(options: Options, rules: readonly Rule[]): Options {
  if (rules.length === 0) return options
  const own = options.custom as ((value: Json) => boolean | string) | undefined
  const custom = (value: Json): boolean | string => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    for (const { name, parameter } of rules) {
      const rule = checkedRules[name]
      // An empty text is the value that Sails stores for an omitted one.
      if (value === '' && !refusesEmpty.has(name)) continue
      if (rule && !rule.test(text, parameter as never)) return rule.message(parameter)
    }
    return own === undefined ? true : own(value)
  }
  return { ...options, custom }
}

/** Defaults of 0.x are often dates. */
function plainDefault(value: unknown): unknown {
  if (typeof value === 'function') return () => toJson(value())
  return toJson(value)
}

const toJson = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value)

const pick = (options: Options, names: readonly string[]): Options =>
  Object.fromEntries(Object.entries(options).filter(([name]) => names.includes(name) || !isKnown(name)))

/** Options that an association ignores. Others stay, so that they are refused. */
const ignoredByAssociations = new Set(
  'type defaultsTo size notNull index primaryKey autoIncrement via through min max minLength maxLength isInteger isIn custom required unique columnName columnType'.split(
    ' ',
  ),
)
const isKnown = (name: string): boolean => ignoredByAssociations.has(name)
