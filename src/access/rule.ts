import type { Rule, RuleOutcome } from '../model/access-rules.ts'
import type { User } from '../protocol/requester.ts'
import { isPromise } from '../support/maybe-promise.ts'

/**
 * What a rule says of one requester. Errors of a rule function are thrown on: nothing is allowed by accident. `name` is that
 * of the rule in messages.
 */
export function applyRule(rule: Rule, user: User | null, name: () => string): RuleOutcome {
  if (typeof rule === 'boolean') return rule
  if (typeof rule === 'string') return hasRole(user, rule)
  const outcome: unknown = rule({ user } as never)
  if (typeof outcome === 'boolean' || isPlainObject(outcome)) return outcome as RuleOutcome
  throw refusal(outcome, name())
}

/**
 * Throws for an object in a condition that is neither a list nor a plain object. Most have no members of their own, as a
 * promise, and would select every record, as `{}` does.
 */
export function assertPlain(condition: object, name: () => string): void {
  const others = otherObjects(condition)
  for (const other of others) ignoreRejection(other)
  if (others.length > 0) throw refusal(others[0], name())
}

/** The roles of a user are its `role`, and each of its `roles`. */
const hasRole = (user: User | null, role: string): boolean =>
  user !== null && (user.role === role || (Array.isArray(user.roles) && user.roles.includes(role)))

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function otherObjects(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Array.isArray(value) || isPlainObject(value) ? Object.values(value).flatMap(otherObjects) : [value]
}

function refusal(returned: unknown, name: string): TypeError {
  ignoreRejection(returned)
  return new TypeError(
    `${name} returned ${inWords(returned)}: access rules are synchronous, and return true, false or a condition, which is a plain object`,
  )
}

/** A promise that rejects later, with no one waiting for it, would end the process. */
function ignoreRejection(value: unknown): void {
  if (isPromise(value)) value.catch(() => {})
}

function inWords(value: unknown): string {
  if (typeof value !== 'object') return value === undefined ? 'undefined' : `a ${typeof value}`
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return isPromise(value) ? 'a promise' : 'an object of a class'
}
