import { isObject } from '../../model/definition-kinds.ts'
import { nearest } from '../../support/nearest.ts'

/** The problems of a value. `name` is its path in the configuration, as messages show it: `sockets.path`. */
export interface Check {
  (value: unknown, name: string): readonly string[]
  /** Of an object: the names that it may contain. */
  readonly members?: readonly string[]
}

export const be =
  (what: string, test: (value: unknown) => boolean): Check =>
  (value, name) =>
    test(value) ? [] : [`${name} must be ${what}`]

export const anObject = be('an object', isObject)
export const aFunction = be('a function', (value) => typeof value === 'function')
export const aBoolean = be('true or false', (value) => typeof value === 'boolean')
export const aString = be('a non-empty string', (value) => typeof value === 'string' && value !== '')
export const aWholeNumber = be('a whole number, 0 or more', (value) => Number.isInteger(value) && Number(value) >= 0)

export const oneOf = (...values: readonly unknown[]): Check =>
  be(values.map((value) => JSON.stringify(value)).join(' or '), (value) => values.includes(value))

/** A fixed value, or what the other check accepts. */
export const valueOr =
  (value: unknown, check: Check): Check =>
  (given, name) => {
    if (given === value) return []
    const isOwn = (problem: string) => problem.startsWith(`${name} must`)
    return check(given, name).map((problem) => (isOwn(problem) ? `${problem}, or ${JSON.stringify(value)}` : problem))
  }

export const listOf = (what: string, test: (item: unknown) => boolean): Check =>
  be(`a list of ${what}`, (value) => Array.isArray(value) && value.every(test))

/** An object with these members and no others. A member that is undefined counts as absent. */
export function members(checks: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  const names = listed(checks)
  const check = (value: unknown, name: string): readonly string[] => {
    if (!isObject(value)) return [`${name} must be an object${names === '' ? '' : ` of settings: ${names}`}`]
    const prefix = name === '' ? '' : `${name}.`
    const missing = required.filter((member) => value[member] === undefined)
    return [
      ...Object.entries(value).flatMap(([member, given]) => {
        const check = Object.hasOwn(checks, member) ? checks[member] : undefined
        if (!check) return [`there is no setting "${prefix}${member}"${suggestion(member, checks)}`]
        return given === undefined ? [] : check(given, prefix + member)
      }),
      ...missing.map((member) => `${prefix}${member} is missing`),
    ]
  }
  return Object.assign(check, { members: Object.keys(checks) })
}

function suggestion(word: string, checks: Readonly<Record<string, Check>>): string {
  const group = Object.keys(checks).find((name) => checks[name]?.members?.includes(word))
  const near = group === undefined ? nearest(word, Object.keys(checks)) : `${group}.${word}`
  if (near !== undefined) return `; did you mean "${near}"?`
  const names = listed(checks)
  return names === '' ? '' : `; there are ${names}`
}

/** So many settings are listed in a message. */
const mostListed = 12

function listed(checks: Readonly<Record<string, Check>>): string {
  const names = Object.keys(checks)
  return names.length > mostListed ? '' : names.join(', ')
}
