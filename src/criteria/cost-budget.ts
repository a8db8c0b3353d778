import { ServiceError } from '../protocol/errors.ts'
import type { Limits } from '../support/limits.ts'

/**
 * What the parts of a request cost, in comparisons. The figures order the parts by the work that they may cause without
 * an index; they do not predict a duration.
 */
export const costs = {
  /** A comparison, and each `and`, `or` and `not`, also an empty one. */
  node: 1,
  /** A comparison that reads the whole value of each row, such as a search in a text. No index serves it. */
  wholeValue: 5,
  /** A condition on related records: a subquery over another table. */
  related: 10,
  /** Sorting by an attribute of a to-one association. */
  relatedSort: 5,
  /** An associated list or record that is embedded. */
  populate: 3,
  /** As many values of `in` and `nin` cost as much as one comparison. */
  valuesPerNode: 100,
} as const

/** The cost that the conditions, sort orders and populated associations of one request may have together. */
export class CostBudget {
  readonly #limit: number
  #spent = 0

  constructor({ maxConditionCost }: Limits) {
    this.#limit = maxConditionCost
  }

  /** Throws E_BAD_CRITERIA when the limit is exceeded, before any statement is built. */
  spend(cost: number): void {
    this.#spent += cost
    if (this.#spent <= this.#limit) return
    throw new ServiceError(
      'E_BAD_CRITERIA',
      `The conditions, sort orders and populated associations of a request may cost at most ${this.#limit}: comparisons and combinations cost ${costs.node}, text searches and comparisons of JSON ${costs.wholeValue}, related conditions ${costs.related}`,
      { limit: 'maxConditionCost' },
    )
  }
}
