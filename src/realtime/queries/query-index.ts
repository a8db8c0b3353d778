import type { Change } from '../../protocol/change.ts'
import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'
import { EqualityIndex } from '../equality-index.ts'
import type { LiveQuery } from './live-query.ts'

/** Finds the queries that a change may concern: those of its model by an equality, those through its model all. */
export class QueryIndex {
  readonly #own = new Map<string, EqualityIndex<LiveQuery>>()
  readonly #through = new Map<string, Set<LiveQuery>>()

  add(query: LiveQuery): void {
    const { model, where, through } = query.plan
    getOrInsertComputed(this.#own, model.name, () => new EqualityIndex<LiveQuery>()).add(query, where)
    for (const name of through) getOrInsertComputed(this.#through, name, () => new Set<LiveQuery>()).add(query)
  }

  remove(query: LiveQuery): void {
    const { model, where, through } = query.plan
    this.#own.get(model.name)?.remove(query, where)
    for (const name of through) {
      const queries = this.#through.get(name)
      queries?.delete(query)
      if (queries?.size === 0) this.#through.delete(name)
    }
  }

  /** A query may come twice: as one of the model and as one through it. */
  *candidates({ model, before, after }: Change): Generator<LiveQuery> {
    const own = this.#own.get(model)
    if (own) yield* own.candidates(() => [before, after])
    const through = this.#through.get(model)
    if (through) yield* through
  }
}
