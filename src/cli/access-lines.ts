import type { ActionExplanation, Explanation, OwnActionExplanation, RecordExplanation } from '../access/explain.ts'
import { type Condition, isMatchAll } from '../criteria/criteria.ts'
import { formatWhere } from '../criteria/format-where.ts'
import { toSql } from '../criteria/to-sql.ts'
import type { Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { User } from '../protocol/requester.ts'
import type { Dialect } from '../sql/dialect.ts'
import { textOf } from '../sql/sql.ts'
import type { Output } from './output.ts'

/** Prints what the rules of a model say of a user: an event and a line for each action and attribute. */
export function printAccess(
  { model, actions, attributes }: Explanation,
  user: User | null,
  dialect: Dialect | undefined,
  output: Output,
): void {
  const { line, paint } = output
  line(`\n  ${paint('bold', model.name)}   ${paint('dim', user === null ? 'anonymous' : JSON.stringify(user))}\n`)
  for (const explanation of actions) {
    const { action, rule, verdict, condition } = explanation
    const statement = verdict === false || isMatchAll(condition) ? undefined : sqlOf(condition, model, dialect)
    output.event({ model: model.name, action, rule, allowed: asJson(verdict), ...statement })
    line(`    ${action.padEnd(actionWidth)}${inWords(verdict)}   ${paint('dim', rule)}`)
    if (statement)
      line(`    ${''.padEnd(actionWidth)}${paint('dim', `where ${statement.sql}${listed(statement.values)}`)}`)
  }
  const width = Math.max(...attributes.map(({ attribute }) => attribute.name.length)) + 3
  line()
  for (const { attribute, read, write } of attributes) {
    output.event({ model: model.name, attribute: attribute.name, read: asJson(read), write })
    const reading = typeof read === 'boolean' ? (read ? 'read' : 'not read') : `read where ${asText(read)}, else null`
    line(`    ${attribute.name.padEnd(width)}${reading}, ${write ? 'written' : 'not written'}`)
  }
  line()
}

/** Prints what the rules of the application's actions say of a user: an event and a line for each. */
export function printOwnActions(
  model: string | undefined,
  actions: readonly OwnActionExplanation[],
  { event, line, paint }: Output,
): void {
  if (actions.length === 0) return
  const width = Math.max(actionWidth, ...actions.map(({ action }) => action.name.length + 3))
  if (model === undefined) line(`\n  ${paint('bold', 'service')}\n`)
  for (const { action, rule, verdict } of actions) {
    event({ ...(model !== undefined && { model }), action: action.name, on: action.on, rule, allowed: asJson(verdict) })
    line(`    ${action.name.padEnd(width)}${inWords(verdict)}   ${paint('dim', `action · ${rule}`)}`)
  }
  line()
}

/** Prints what the rules of a model say of one record: an event and a line for each action. */
export function printRecordAccess(
  { model, actions }: Explanation,
  id: Json,
  { refusedBy, masked }: RecordExplanation,
  { event, line, paint }: Output,
): void {
  line(`\n  ${paint('bold', `${model.name} ${id}`)}\n`)
  for (const [action, refusing] of refusedBy) {
    event({ model: model.name, id, action, allowed: refusing === undefined, ...(refusing && { refusedBy: refusing }) })
    const text = refusing === undefined ? 'allowed' : `refused by ${refusing}: ${ruleText(refusing, actions)}`
    line(`    ${action.padEnd(actionWidth)}${text}`)
  }
  const names = masked.map(({ name }) => name)
  event({ model: model.name, id, masked: names })
  if (names.length > 0) line(`\n    null for this user: ${names.join(', ')}`)
  line()
}

const actionWidth = 10

function ruleText(action: ActionExplanation['action'], actions: readonly ActionExplanation[]): string {
  const found = actions.find((explanation) => explanation.action === action)
  return found === undefined || typeof found.verdict !== 'object' ? (found?.rule ?? '') : asText(found.verdict)
}

const asText = (condition: Condition): string => JSON.stringify(formatWhere(condition))

const asJson = (verdict: ActionExplanation['verdict']): Json =>
  typeof verdict === 'object' ? formatWhere(verdict) : verdict

function inWords(verdict: ActionExplanation['verdict']): string {
  if (verdict === 'members') return 'by the rules of the members'
  return typeof verdict === 'boolean' ? (verdict ? 'allowed' : 'refused') : asText(verdict)
}

interface PrintedSql {
  readonly sql: string
  readonly values: readonly Json[]
}

/** The SQL of a rule, without what bounds the cost of statements, which is not part of it. */
function sqlOf(condition: Condition, model: Model, dialect: Dialect | undefined): PrintedSql | undefined {
  if (!dialect) return undefined
  const { rowGuard: _, unindexed: _unindexed, ...plain } = dialect
  const sql = toSql(condition, model, plain)
  return { sql: textOf(sql, dialect.placeholder), values: sql.values.map(printable) }
}

/** A value as JSON: drivers bind other values too. */
const printable = (value: unknown): Json =>
  typeof value === 'number' || typeof value === 'string' || value === null ? value : String(value)

const listed = (values: readonly Json[]): string =>
  values.length === 0 ? '' : `   [${values.map((value) => JSON.stringify(value)).join(', ')}]`
