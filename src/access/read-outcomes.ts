import type { Condition } from '../criteria/criteria.ts'
import { type Model, originalOf } from '../model/model.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import type { ReadAccess } from './guard.ts'

/** For one outcome of the first model: others past this number replace the first. */
const keptOutcomes = 16

interface Known<Value> {
  readonly readable: readonly Condition[]
  readonly value: Value
}

/**
 * Values by what the rules let a requester read of some models. A rule with the same outcome returns the same condition, so
 * that requesters are found by the conditions themselves. Where attributes have rules, nothing is found.
 */
export class ReadOutcomes<Value> {
  readonly #models: readonly Model[]
  /** By the condition of the first model, in which requesters differ most often. */
  readonly #known = new WeakMap<Condition, Known<Value>[]>()

  constructor(models: readonly Model[]) {
    this.#models = models.map(originalOf)
  }

  get(access: ReadAccess): Value | undefined {
    if (access.hasMasks) return undefined
    const known = this.#known.get(access.readable(this.#models[0] as Model))
    return known?.find(({ readable }) => this.#isSame(readable, access))?.value
  }

  set(access: ReadAccess, value: Value): void {
    if (access.hasMasks) return
    const readable = this.#models.map((model) => access.readable(model))
    const known = getOrInsertComputed(this.#known, readable[0] as Condition, () => [])
    if (known.length >= keptOutcomes) known.shift()
    known.push({ readable, value })
  }

  #isSame(readable: readonly Condition[], access: ReadAccess): boolean {
    for (let at = 0; at < readable.length; at++)
      if (access.readable(this.#models[at] as Model) !== readable[at]) return false
    return true
  }
}
