import { conditionKey } from '../criteria/condition-key.ts'
import type { Condition } from '../criteria/criteria.ts'
import { isMatchAll } from '../criteria/criteria.ts'
import { everyAttribute, type Model, originalOf } from '../model/model.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import { ObjectCache } from '../support/object-cache.ts'
import type { ReadAccess } from './guard.ts'

/** The conditions that decide what a requester reads of some models, and their content as a text. */
export interface ReadRules {
  readonly conditions: readonly Condition[]
  /** Equal for requesters that read the same. */
  readonly key: string
}

export function readRulesOf(models: Iterable<Model>, access: ReadAccess | undefined): ReadRules {
  if (!access) return { conditions: [], key: '' }
  const conditions: Condition[] = []
  const keys: string[] = []
  const add = (name: string, rule: Condition | undefined): void => {
    if (!rule || isMatchAll(rule)) return
    conditions.push(rule)
    keys.push(name, textOf(rule))
  }
  for (const model of new Set([...models].map(originalOf))) {
    keys.push(model.name)
    add('', access.readable(model))
    if (access.hasMasks) for (const attribute of everyAttribute(model)) add(attribute.name, access.mask(attribute))
  }
  return { conditions, key: keys.join() }
}

/** Conditions of rules are the same objects for the same outcome. */
const texts = new ObjectCache<Condition, string>()

/** As JSON, so that what follows it in a key is no part of it. */
const textOf = (condition: Condition): string =>
  getOrInsertComputed(texts, condition, () => JSON.stringify(conditionKey(condition)))
