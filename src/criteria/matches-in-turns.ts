import type { JsonObject } from '../protocol/json.ts'
import { eventLoopTurn } from '../support/event-loop-turn.ts'
import type { Condition } from './criteria.ts'
import { matches } from './matches.ts'

/** To compare a text of this length with a hundred patterns takes some milliseconds. */
const longLength = 2_000

export const isLongText = (value: unknown): boolean => typeof value === 'string' && value.length > longLength

export function hasLongText(record: JsonObject | undefined): boolean {
  for (const name in record) if (isLongText(record[name])) return true
  return false
}

/** As `matches`, in several turns of the event loop: for a record with long texts. */
export async function matchesInTurns(condition: Condition, record: JsonObject): Promise<boolean> {
  switch (condition.kind) {
    case 'and':
      for (const part of condition.conditions) if (!(await matchesInTurns(part, record))) return false
      return true
    case 'or':
      for (const part of condition.conditions) if (await matchesInTurns(part, record)) return true
      return false
    case 'not':
      return !(await matchesInTurns(condition.condition, record))
    case 'compare': {
      if (eventLoopTurn.isUsed) await eventLoopTurn.next()
      const { attribute, operator, operand } = condition
      const step = operator.matchSteps?.(record[attribute.name] ?? null, operand)
      return step ? resultInTurns(step) : matches(condition, record)
    }
    default:
      return matches(condition, record)
  }
}

async function resultInTurns(step: () => boolean | undefined): Promise<boolean> {
  for (;;) {
    const result = step()
    if (result !== undefined) return result
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
  }
}
