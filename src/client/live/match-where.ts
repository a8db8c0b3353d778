import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import { isComposite } from '../same.ts'

/**
 * Whether a record matches a condition on its own attributes; undefined where only the service can tell: conditions through
 * associations, attributes that the record does not contain, parts of text, and operators in long spelling.
 */
export function matchesWhere(where: Json | undefined, record: JsonObject): boolean | undefined {
  if (!isJsonObject(where)) return where === undefined ? true : undefined
  return every(Object.entries(where), ([name, test]) => {
    if (name === 'and' || name === 'or') {
      const tests = test as readonly Json[]
      const one = (part: Json) => matchesWhere(part, record)
      return name === 'and' ? every(tests, one) : not(every(tests, (part) => not(one(part))))
    }
    if (name === 'not') return not(matchesWhere(test, record))
    const value = record[name]
    if (value === undefined || isComposite(value)) return undefined
    return isJsonObject(test)
      ? every(Object.entries(test), ([operator, operand]) => compare(value, operator, operand))
      : oneOf(value, test)
  })
}

const not = (known: boolean | undefined): boolean | undefined => (known === undefined ? known : !known)

/** False if one is false, otherwise undefined if one is not known. */
function every<T>(list: readonly T[], test: (item: T) => boolean | undefined): boolean | undefined {
  const results = list.map(test)
  return results.includes(false) ? false : results.includes(undefined) ? undefined : true
}

/** As texts: the service takes `"7"` for a number as well. */
const oneOf = (value: Json, operand: Json): boolean => [operand].flat().map(String).includes(String(value))

function compare(value: Json, operator: string, operand: Json): boolean | undefined {
  if (operator === 'in') return oneOf(value, operand)
  if (/^(!=?|not|nin)$/.test(operator)) return value !== null && !oneOf(value, operand)
  if (value === null) return false
  // Text of digits may be a big integer, which has another order.
  const isOrdered = /^[<>]=?$/.test(operator) && /^-?\d+$/.test(operand as string) === (typeof operand === 'number')
  if (!isOrdered) return undefined
  if (operator.length > 1 && value === operand) return true
  return operator[0] === '<' ? value < (operand as string) : value > (operand as string)
}
