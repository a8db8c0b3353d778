import type { JsonObject } from '../protocol/json.ts'
import { eventLoopTurn } from '../support/event-loop-turn.ts'
import type { Condition } from './criteria.ts'
import { matches } from './matches.ts'

/** In a longer text, the searches of one condition may take more than a turn of the event loop. */
const longLength = 50_000

export const isLongText = (value: unknown): boolean => typeof value === 'string' && value.length > longLength

export function hasLongText(record: JsonObject | undefined): boolean {
  for (const name in record) if (isLongText(record[name])) return true
  return false
}

/** As `matches`, with a turn of the event loop for some of the comparisons: for a record with long texts. */
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
    default:
      if (eventLoopTurn.isUsed) await eventLoopTurn.next()
      return matches(condition, record)
  }
}
