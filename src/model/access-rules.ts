import type { Json } from '../protocol/json.ts'
import type { User } from '../protocol/requester.ts'

/** The actions that access rules decide about. `add` and `remove` change the to-many associations of a record. */
export const actions = ['read', 'create', 'update', 'destroy', 'add', 'remove'] as const
export type Action = (typeof actions)[number]

/** A user of an unknown type: the models are declared apart from `auth.identify`, or there is none. */
// biome-ignore lint/suspicious/noExplicitAny: a user is whatever the application says
export type AnyUser = any

/** The roles that a user can have: the values of its `role` and `roles`. Any string if the type of the user is not known. */
export type RoleOf<U> = 0 extends 1 & U
  ? string
  : U extends unknown
    ? TextOf<U extends { readonly role?: infer Role } ? Role : never> | TextOf<RolesOf<U>>
    : never
type RolesOf<U> = U extends { readonly roles?: infer Roles }
  ? Roles extends readonly (infer Role)[]
    ? Role
    : never
  : never
type TextOf<Role> = Extract<Role, string>

/** The argument of a rule function. */
export interface RuleContext<U = User> {
  /** What `auth.identify` returned; null for an anonymous requester. */
  readonly user: U | null
}

/**
 * What a rule function returns. True allows the action for every record, false for none; an object is a condition in the grammar
 * of `where`, which the record must fulfil.
 */
export type RuleOutcome = boolean | RuleCondition

/**
 * For a list of different objects, the compiler infers members of type `undefined`. A member whose value is undefined is refused.
 */
export interface RuleCondition {
  readonly [name: string]: RuleValue
}
type RuleValue = Json | undefined | RuleCondition | readonly RuleValue[]

/** `true`: everyone; `false`: no one; a role: users that have it; or a function that decides per request. */
export type Rule<Outcome = RuleOutcome, U = AnyUser, Role = RoleOf<U>> =
  | boolean
  | Role
  | ((context: RuleContext<U>) => Outcome)

/** The rules of one model. `'public'` allows everything to everyone. */
export type AccessDefinition<U = AnyUser, Role = RoleOf<U>> =
  | 'public'
  | { readonly [action in Action]?: Rule<RuleOutcome, U, Role> }

/** The rules of one attribute, added to those of its model. A rule for `write` does not depend on the record. */
export interface AttributeAccess<U = AnyUser> {
  /** The rule for reading the value; default: every requester that may read the record. */
  readonly read?: Rule<RuleOutcome, U>
  /** The rule for writing the value; default: every requester that may write the record. */
  readonly write?: Rule<boolean, U>
}

export type ModelRules = { readonly [action in Action]?: Rule }

/** What `'public'` stands for. */
export const publicRules: ModelRules = Object.fromEntries(actions.map((action) => [action, true]))
