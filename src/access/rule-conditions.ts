import type { Condition } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import { Lru } from '../support/lru.ts'

/** Conditions of rules past this number, for each model, are parsed again. */
const keptConditions = 1_000

/**
 * The conditions that rules have returned, parsed. A rule that returns the same again, as it does for each request of a
 * user, gets the same condition, by which guarded criteria and compiled statements are found again.
 */
export class RuleConditions {
  readonly #byModel = new Map<Model, Lru<string, Condition>>()

  get(outcome: object, model: Model, parse: () => Condition): Condition {
    const key = keyOf(outcome)
    if (key === undefined) return parse()
    return getOrInsertComputed(
      getOrInsertComputed(this.#byModel, model, () => new Lru<string, Condition>(keptConditions)),
      key,
      parse,
    )
  }
}

/**
 * Different for different outcomes: a text is written with its length before it. Undefined for an outcome with something in
 * it that is not JSON, which is refused or rare.
 */
function keyOf(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return `'${value.length}'${value}`
    case 'number':
      return Number.isFinite(value) ? `${value}` : undefined
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      return Array.isArray(value) ? keyOfList(value) : keyOfObject(value as Readonly<Record<string, unknown>>)
    default:
      return undefined
  }
}

function keyOfList(list: readonly unknown[]): string | undefined {
  let key = '['
  for (const item of list) {
    const itemKey = keyOf(item)
    if (itemKey === undefined) return undefined
    key += `${itemKey},`
  }
  return `${key}]`
}

function keyOfObject(object: Readonly<Record<string, unknown>>): string | undefined {
  const prototype = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) return undefined
  let key = '{'
  for (const name in object) {
    const memberKey = keyOf(object[name])
    if (memberKey === undefined) return undefined
    key += `${name.length}:${name}${memberKey},`
  }
  return `${key}}`
}
