import { and, type Condition, isMatchAll, matchAll, matchNone } from '../criteria/criteria.ts'
import { type Action, actions, type Rule } from '../model/access-rules.ts'
import type { DeclaredAction, DeclaredActions } from '../model/actions/declare-actions.ts'
import { type Attribute, everyAttribute, type Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { Store } from '../storage/store.ts'
import type { Access, AccessPolicy } from './policy.ts'

/** What the rule of an action of the application says of one requester. */
export interface OwnActionExplanation {
  readonly action: DeclaredAction
  readonly rule: string
  readonly verdict: boolean | Condition
}

/** What the rules of a model say of one requester. */
export interface Explanation {
  readonly model: Model
  readonly actions: readonly ActionExplanation[]
  readonly attributes: readonly AttributeExplanation[]
}

export interface ActionExplanation {
  readonly action: Action
  /** The rule as it is declared, in words. */
  readonly rule: string
  /** `'members'`: `add` and `remove` without a rule are decided by the rules of the records that they change. */
  readonly verdict: boolean | Condition | 'members'
  /** What the statement of the action asks of the record: it must be readable as well, unless it is new. */
  readonly condition: Condition
}

export interface AttributeExplanation {
  readonly attribute: Attribute
  /** A condition: the value is null in records that do not fulfil it. */
  readonly read: boolean | Condition
  readonly write: boolean
}

/** Throws an Error that names the rule, if a rule function throws or returns a condition that is not valid. */
export function explainAccess(policy: AccessPolicy, access: Access, model: Model): Explanation {
  return {
    model,
    actions: actions.map((action) =>
      naming(`access.${action} of ${model.name}`, () => explainAction(action, policy, access, model)),
    ),
    attributes: everyAttribute(model).map((attribute) =>
      naming(`access of ${model.name}.${attribute.name}`, () => explainAttribute(attribute, access, model)),
    ),
  }
}

/** For the actions of a model, or of the service. Throws an Error that names the rule, if a rule function throws. */
export const explainOwnActions = (
  policy: AccessPolicy,
  access: Access,
  actions: DeclaredActions,
  model: Model | undefined,
): readonly OwnActionExplanation[] =>
  [...actions.values()].map((action) => ({
    action,
    rule: action.access === undefined ? 'not declared' : inWords(policy.actionRule(action, model)),
    verdict: naming(`access of the action ${action.name}`, () => access.actionVerdict(action, model)),
  }))

function explainAction(action: Action, policy: AccessPolicy, access: Access, model: Model): ActionExplanation {
  const isDeclared = policy.declares(action, model)
  if (!isDeclared && (action === 'add' || action === 'remove'))
    return { action, rule: 'not declared', verdict: 'members', condition: matchAll }
  const verdict = access.verdict(action, model)
  const own = access.condition(action, model)
  return {
    action,
    rule: isDeclared ? inWords(policy.ruleOf(action, model)) : policy.isDeclared(model) ? 'not declared' : 'no rules',
    verdict,
    condition: action === 'create' || action === 'read' ? own : and(access.readable(model), own),
  }
}

function inWords(rule: Rule): string {
  return typeof rule === 'string' ? `role ${JSON.stringify(rule)}` : typeof rule === 'function' ? 'function' : `${rule}`
}

function explainAttribute(attribute: Attribute, access: Access, model: Model): AttributeExplanation {
  const mask = access.mask(attribute)
  const isWritten = access.verdict('create', model) !== false || access.verdict('update', model) !== false
  return {
    attribute,
    read: attribute.hidden || mask === matchNone ? false : mask === undefined || isMatchAll(mask) || mask,
    write: isWritten && access.mayWrite(attribute),
  }
}

function naming<T>(rule: string, explain: () => T): T {
  try {
    return explain()
  } catch (error) {
    throw new Error(`${rule} fails: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}

/** What the rules say of one record. */
export interface RecordExplanation {
  /** For each action on an existing record, the action whose rule refuses it; undefined: it is allowed. */
  readonly refusedBy: ReadonlyMap<Action, Action | undefined>
  /** The attributes whose values are null for the requester. */
  readonly masked: readonly Attribute[]
}

/** One statement. Undefined: no such record. */
export async function explainRecord(
  { model, actions, attributes }: Explanation,
  id: Json,
  store: Pick<Store, 'matching'>,
): Promise<RecordExplanation | undefined> {
  const judged = actions.filter(({ action, verdict }) => action !== 'create' && verdict !== 'members')
  const masks = attributes.filter(({ read }) => typeof read === 'object')
  const conditions = [...judged.map(conditionOf), ...masks.map(({ read }) => read as Condition)]
  const [found, ...fulfilled] = await store.matching(model, [id], [matchAll, ...conditions])
  if (!found?.has(id)) return undefined
  const holds = (index: number): boolean => fulfilled[index]?.has(id) ?? false
  const isReadable = holds(judged.findIndex(({ action }) => action === 'read'))
  const refusedBy = judged.map(({ action }, index): [Action, Action | undefined] =>
    isReadable ? [action, holds(index) ? undefined : action] : [action, 'read'],
  )
  const masked = masks.filter((_, index) => !holds(judged.length + index)).map(({ attribute }) => attribute)
  return { refusedBy: new Map(refusedBy), masked }
}

const conditionOf = ({ condition }: ActionExplanation): Condition => condition
