import type { Rule, RuleOutcome } from '../model/access-rules.ts'
import type { User } from '../protocol/requester.ts'

/** What a rule says of one requester. Errors of a rule function are thrown on: nothing is allowed by accident. */
export function applyRule(rule: Rule, user: User | null): RuleOutcome {
  if (typeof rule === 'boolean') return rule
  if (typeof rule === 'string') return hasRole(user, rule)
  const outcome: unknown = rule({ user } as never)
  if (typeof outcome === 'boolean') return outcome
  if (typeof outcome === 'object' && outcome !== null && !Array.isArray(outcome)) return outcome as RuleOutcome
  throw new TypeError(
    `An access rule returned ${outcome === null ? 'null' : typeof outcome}: it must return true, false or a condition`,
  )
}

/** The roles of a user are its `role`, and each of its `roles`. */
const hasRole = (user: User | null, role: string): boolean =>
  user !== null && (user.role === role || (Array.isArray(user.roles) && user.roles.includes(role)))
