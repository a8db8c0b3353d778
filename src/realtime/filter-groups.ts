import { conditionKey } from '../criteria/condition-key.ts'
import type { Condition } from '../criteria/criteria.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import { EqualityIndex } from './equality-index.ts'
import type { Subscriber } from './subscriber.ts'
import type { Images, View } from './visibility.ts'

/** The subscribers of a model with the same view and condition: each event is matched once for all of them. */
export interface FilterGroup {
  readonly view: View
  readonly where: Condition | undefined
  readonly subscribers: Map<Subscriber, undefined>
}

/** The filtered subscriptions of one model, found by an equality that their condition demands where it demands one. */
export class FilterGroups {
  readonly #byKey = new Map<string, FilterGroup>()
  readonly #index = new EqualityIndex<FilterGroup>()

  get isEmpty(): boolean {
    return this.#byKey.size === 0
  }

  /** Whether any of them has a condition. */
  get isFiltered(): boolean {
    for (const { where } of this.#byKey.values()) if (where) return true
    return false
  }

  add(subscriber: Subscriber, view: View, where: Condition | undefined): void {
    const group = getOrInsertComputed(this.#byKey, keyOf(view, where), () => {
      const made = { view, where, subscribers: new Map<Subscriber, undefined>() }
      this.#index.add(made, where)
      return made
    })
    group.subscribers.set(subscriber, undefined)
  }

  remove(subscriber: Subscriber, view: View, where: Condition | undefined): void {
    const key = keyOf(view, where)
    const group = this.#byKey.get(key)
    if (!group?.subscribers.delete(subscriber) || group.subscribers.size > 0) return
    this.#byKey.delete(key)
    this.#index.remove(group, group.where)
  }

  /** The groups that the images of an event can match. */
  candidates(imagesOf: () => Images): Iterable<FilterGroup> {
    return this.#index.candidates(() => {
      const { before, after } = imagesOf()
      return [before, after]
    })
  }

  *[Symbol.iterator](): Generator<FilterGroup> {
    yield* this.#byKey.values()
  }
}

const keyOf = (view: View, where: Condition | undefined): string => `${view.key} ${where ? conditionKey(where) : ''}`
