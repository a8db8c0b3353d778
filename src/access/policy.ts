import { type Condition, matchAll, matchNone } from '../criteria/criteria.ts'
import { parseOwnWhere } from '../criteria/parse-where.ts'
import {
  type AccessDefinition,
  type Action,
  type ModelRules,
  publicRules,
  type Rule,
  type RuleCondition,
} from '../model/access-rules.ts'
import type { DeclaredAction, DeclaredActions } from '../model/actions/declare-actions.ts'
import {
  type Attribute,
  everyAttribute,
  type HasMany,
  type ManyToMany,
  type Model,
  type Models,
} from '../model/model.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Requester, User } from '../protocol/requester.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import type { Limits } from '../support/limits.ts'
import type { ReadAccess } from './guard.ts'
import { type ModelViews, ViewCache } from './model-views.ts'
import { applyRule, assertPlain } from './rule.ts'
import { RuleConditions } from './rule-conditions.ts'
import { attributeRuleName, type RuledAttribute, ruledAttributes } from './ruled-attributes.ts'

/** The rules of a service. `for` applies them to one requester. */
export class AccessPolicy {
  readonly #models: Models
  readonly #limits: Limits
  readonly #defaults: ModelRules
  readonly #ruled: ReadonlyMap<Attribute, RuledAttribute>
  readonly #views: ViewCache
  readonly #conditions = new RuleConditions()

  constructor(models: Models, defaults: ModelRules, limits: Limits) {
    this.#models = models
    this.#limits = limits
    this.#defaults = defaults
    this.#ruled = ruledAttributes(models, (model) => this.isDeclared(model))
    this.#views = new ViewCache(models)
  }

  /** Whether access is declared for the model, by itself or by the configuration: an empty one of a model forbids everything. */
  isDeclared(model: Model): boolean {
    return model.access !== undefined || Object.keys(this.#defaults).length > 0
  }

  /** The rules as they are for one requester. Undefined: it may do everything. */
  for(requester: Requester): Access | undefined {
    if (requester.kind === 'system') return undefined
    return new Access(this, requester.kind === 'user' ? requester.user : null)
  }

  get ruledAttributes(): ReadonlyMap<Attribute, RuledAttribute> {
    return this.#ruled
  }

  viewsWithout(unreadable: ReadonlySet<Attribute>): ModelViews {
    return this.#views.without(unreadable)
  }

  /** A model without declared access is open; what a declared one does not mention is forbidden. */
  ruleOf(action: Action, model: Model): Rule {
    return (model.access ?? this.#defaults)[action] ?? this.#defaults[action] ?? !this.isDeclared(model)
  }

  /**
   * The rule of an action of the application. Without one of its own it is open where everything is: in a model without
   * rules, or under `'public'`; an action of the service is open under `'public'` only.
   */
  actionRule({ access }: DeclaredAction, model: Model | undefined): Rule {
    if (access !== undefined) return access
    return (model?.access ?? this.#defaults) === publicRules || (model !== undefined && !this.isDeclared(model))
  }

  /** Whether a requester may exist that does not read every value of every record. */
  restrictsReading(model: Model): boolean {
    return this.ruleOf('read', model) !== true || everyAttribute(model).some(({ access }) => access?.read !== undefined)
  }

  declares(action: Action, model: Model): boolean {
    return (model.access?.[action] ?? this.#defaults[action]) !== undefined
  }

  /** As `applyRule`, with an outcome that is a condition parsed. */
  verdictOf(rule: Rule, user: User | null, model: Model, name: () => string): boolean | Condition {
    const outcome = applyRule(rule, user, name)
    return typeof outcome === 'boolean' ? outcome : this.#conditionOf(outcome, model, name)
  }

  #conditionOf(outcome: RuleCondition, model: Model, name: () => string): Condition {
    return this.#conditions.get(outcome, model, () => {
      assertPlain(outcome, name)
      try {
        return parseOwnWhere(outcome as JsonObject, model, this.#limits)
      } catch (error) {
        // An error of the rule, not of the request: its message may name what the requester may not read.
        throw new TypeError(`${name()} returned a condition that is not valid: ${messageOf(error)}`)
      }
    })
  }

  get models(): Models {
    return this.#models
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The policy of a service, or undefined where nothing is declared: then every requester may do everything. */
export function policyOf(
  models: Models,
  defaults: AccessDefinition | undefined,
  limits: Limits,
  actions: DeclaredActions = new Map(),
): AccessPolicy | undefined {
  const isRuled = ({ access, readOnly }: Attribute) => access !== undefined || readOnly
  const isRuledAction = ({ access }: DeclaredAction) => access !== undefined
  const isDeclared =
    [...actions.values()].some(isRuledAction) ||
    [...models.values()].some(
      (model) =>
        model.access !== undefined ||
        everyAttribute(model).some(isRuled) ||
        [...model.actions.values()].some(isRuledAction),
    )
  if (!isDeclared && defaults === undefined) return undefined
  return new AccessPolicy(models, defaults === 'public' ? publicRules : (defaults ?? {}), limits)
}

const nothing: ReadonlySet<Attribute> = new Set()

/** What one requester may do. Each rule is applied at most once, when it is first needed. */
export class Access implements ReadAccess {
  readonly user: User | null
  readonly #policy: AccessPolicy
  readonly #verdicts: { [action in Action]?: Map<Model, boolean | Condition> } = {}
  #masks: Map<Attribute, Condition | undefined> | undefined
  #writable: Map<Attribute, boolean> | undefined
  #views: ModelViews | undefined

  constructor(policy: AccessPolicy, user: User | null) {
    this.#policy = policy
    this.user = user
  }

  /** Whether the action is allowed: never, for every record, or for the records that fulfil a condition. */
  verdict(action: Action, model: Model): boolean | Condition {
    this.#verdicts[action] ??= new Map()
    const verdicts = this.#verdicts[action]
    let verdict = verdicts.get(model)
    if (verdict === undefined) {
      verdict = this.#judge(action, model)
      verdicts.set(model, verdict)
    }
    return verdict
  }

  #judge(action: Action, model: Model): boolean | Condition {
    if (model.isJunction) return true
    const name = () => `The access rule \`${action}\` of ${model.name}`
    return this.#policy.verdictOf(this.#policy.ruleOf(action, model), this.user, model, name)
  }

  /**
   * Whether the members of an association may be changed. Without a rule of its own, a foreign key is a matter of the
   * record that has it, and a junction row one of updating the record whose association it is.
   */
  membersVerdict(action: 'add' | 'remove', association: HasMany | ManyToMany): boolean | Condition {
    const owner = (association.kind === 'hasMany' ? association.via : association.near).references as Model
    if (this.#policy.declares(action, owner)) return this.verdict(action, owner)
    return association.kind === 'hasMany' || this.verdict('update', owner)
  }

  /** The rule for records that become, or cease to be, what others refer to. Undefined: none is declared. */
  referenceVerdict(action: 'add' | 'remove', target: Model): boolean | Condition | undefined {
    return this.#policy.declares(action, target) ? this.verdict(action, target) : undefined
  }

  /** As `verdict`, for an action of the application. Only the rule of an action on a record may be a condition. */
  actionVerdict(action: DeclaredAction, model: Model | undefined): boolean | Condition {
    const rule = this.#policy.actionRule(action, model)
    const name = () => `The access rule of the action ${action.name}`
    if (model && action.on === 'record') return this.#policy.verdictOf(rule, this.user, model, name)
    const outcome = applyRule(rule, this.user, name)
    if (typeof outcome === 'boolean') return outcome
    throw new TypeError(`${name()} must return true or false: it is not on a record`)
  }

  condition(action: Action, model: Model): Condition {
    const verdict = this.verdict(action, model)
    return typeof verdict === 'boolean' ? (verdict ? matchAll : matchNone) : verdict
  }

  readable(model: Model): Condition {
    return this.condition('read', model)
  }

  get hasMasks(): boolean {
    return this.#policy.ruledAttributes.size > 0
  }

  isMaskable(attribute: Attribute): boolean {
    return this.#policy.ruledAttributes.has(attribute)
  }

  mask(attribute: Attribute): Condition | undefined {
    const ruled = this.#policy.ruledAttributes.get(attribute)
    if (!ruled) return undefined
    this.#masks ??= new Map()
    if (this.#masks.has(attribute)) return this.#masks.get(attribute)
    const verdict = this.#policy.verdictOf(ruled.read, this.user, ruled.model, () => attributeRuleName('read', ruled))
    const mask = typeof verdict === 'boolean' ? (verdict ? undefined : matchNone) : verdict
    this.#masks.set(attribute, mask)
    return mask
  }

  mayWrite(attribute: Attribute): boolean {
    const ruled = this.#policy.ruledAttributes.get(attribute)
    if (!ruled) return true
    this.#writable ??= new Map()
    return getOrInsertComputed(this.#writable, attribute, () => {
      const name = () => attributeRuleName('write', ruled)
      const verdict = this.#policy.verdictOf(ruled.write, this.user, ruled.model, name)
      if (typeof verdict === 'boolean') return verdict
      throw new TypeError(`${name()} must return true or false: it does not depend on the record`)
    })
  }

  /** The models with the names that the requester may ever read: every other name is unknown to it. */
  get views(): ModelViews {
    this.#views ??= this.#policy.viewsWithout(this.#unreadable())
    return this.#views
  }

  #unreadable(): ReadonlySet<Attribute> {
    if (this.#policy.ruledAttributes.size === 0) return nothing
    const unreadable = new Set<Attribute>()
    for (const attribute of this.#policy.ruledAttributes.keys())
      if (this.mask(attribute) === matchNone) unreadable.add(attribute)
    return unreadable
  }
}
