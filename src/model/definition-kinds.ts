import { types } from 'node:util'
import { nearest } from '../support/nearest.ts'
import { actions } from './access-rules.ts'
import { sqlDialects } from './computed.ts'
import { hookedWrites } from './hooks.ts'
import { onDestroyActions } from './model.ts'

/** The values that an option of a definition accepts. */
export interface Kind {
  readonly noun: string
  readonly accepts: (value: unknown) => boolean
  /** Of a value that is not accepted. Empty, or not given: it is not what the noun says. */
  readonly problems?: (value: unknown, option: string) => readonly string[]
}

/** What is wrong with a value that is not accepted. */
export function problemsOf(kind: Kind, value: unknown, option: string): readonly string[] {
  const problems = kind.problems?.(value, option) ?? []
  return problems.length > 0 ? problems : [`\`${option}\` must be ${kind.noun}`]
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const flag: Kind = { noun: 'true or false', accepts: (value) => typeof value === 'boolean' }
export const text: Kind = { noun: 'a string', accepts: (value) => typeof value === 'string' && value !== '' }
export const number: Kind = { noun: 'a number', accepts: (value) => Number.isFinite(value) }
export const list: Kind = { noun: 'a list', accepts: Array.isArray }
export const pattern: Kind = { noun: 'a regular expression', accepts: types.isRegExp }
export const call: Kind = { noun: 'a function', accepts: (value) => typeof value === 'function' }
export const object: Kind = { noun: 'an object', accepts: isObject }
export const anything: Kind = { noun: 'anything', accepts: () => true }
/** The schemas of some libraries are functions. */
export const schema: Kind = {
  noun: 'a Standard Schema (zod, valibot, arktype)',
  accepts: (value) =>
    (isObject(value) || typeof value === 'function') &&
    typeof (value as { '~standard'?: { validate?: unknown } })['~standard']?.validate === 'function',
}
export const junction: Kind = {
  noun: 'the name of a model, or { tableName, from, to }',
  accepts: (value) =>
    text.accepts(value) ||
    (isObject(value) &&
      Object.keys(value).sort().join() === 'from,tableName,to' &&
      Object.values(value).every(text.accepts)),
}
export const indexes: Kind = {
  noun: 'a list of indexes, each a list of attributes or { attributes, unique, where }',
  accepts: (value) => Array.isArray(value) && value.every(isIndexDefinition),
}
const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every(text.accepts)
function isIndexDefinition(value: unknown): boolean {
  if (!isObject(value)) return isTextList(value)
  const { attributes, unique = false, where = {}, ...others } = value
  return isTextList(attributes) && flag.accepts(unique) && isObject(where) && Object.keys(others).length === 0
}

/** An object with these members and no others, of which none is required. A member that is undefined counts as absent. */
function members(noun: string, kinds: Readonly<Record<string, Kind>>): Kind {
  const problems = (value: unknown, option: string): readonly string[] =>
    Object.entries(value as object).flatMap(([name, member]) => {
      const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
      if (!kind) return [`there is no \`${option}.${name}\`${alternatives(name, option, Object.keys(kinds))}`]
      return member === undefined || kind.accepts(member) ? [] : problemsOf(kind, member, `${option}.${name}`)
    })
  return {
    noun,
    accepts: (value) => isObject(value) && problems(value, '').length === 0,
    problems: (value, option) => (isObject(value) ? problems(value, option) : []),
  }
}

function alternatives(name: string, option: string, known: readonly string[]): string {
  const near = nearest(name, known)
  return near === undefined ? `; there are ${quoted(known)}` : `; did you mean \`${option}.${near}\`?`
}

const quoted = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')
const eachOf = (names: readonly string[], kind: Kind): Readonly<Record<string, Kind>> =>
  Object.fromEntries(names.map((name) => [name, kind]))

/** A promise is no outcome of a rule, so that an async function would fail every request. */
export const rule: Kind = {
  noun: 'true, false, a role, or a function',
  accepts: (value) =>
    flag.accepts(value) || text.accepts(value) || (call.accepts(value) && !types.isAsyncFunction(value)),
  problems: (value, option) => (types.isAsyncFunction(value) ? [`\`${option}\` must be synchronous`] : []),
}
export const attributeAccess = members(
  `an object of rules for \`read\` and \`write\`: ${rule.noun}`,
  eachOf(['read', 'write'], rule),
)
const modelAccess = members(
  `'public', or an object of rules for ${quoted(actions)}: ${rule.noun}`,
  eachOf(actions, rule),
)
export const access: Kind = { ...modelAccess, accepts: (value) => value === 'public' || modelAccess.accepts(value) }

const hookFunctions = members(`an object of functions for ${quoted(hookedWrites)}`, eachOf(hookedWrites, call))
export const hooks = members(
  `an object with \`before\` and \`within\`, each ${hookFunctions.noun}`,
  eachOf(['before', 'within'], hookFunctions),
)

export const onDestroy: Kind = {
  noun: onDestroyActions.map((action) => `'${action}'`).join(', '),
  accepts: (value) => (onDestroyActions as readonly unknown[]).includes(value),
}

export const names: Kind = {
  noun: 'a list of names of attributes',
  accepts: (value) => isTextList(value) && (value as readonly string[]).length > 0,
}
export const expression: Kind = {
  noun: `a function, or an object of functions for ${sqlDialects.map((dialect) => `\`${dialect}\``).join(' and ')}`,
  accepts: (value) =>
    typeof value === 'function' ||
    (isObject(value) &&
      Object.keys(value).sort().join() === [...sqlDialects].sort().join() &&
      Object.values(value).every((part) => typeof part === 'function')),
}

export const oneOf = (values: readonly string[]): Kind => ({
  noun: values.map((value) => `'${value}'`).join(' or '),
  accepts: (value) => values.includes(value as string),
})
