import type { Comparison, Condition } from '../criteria/criteria.ts'
import { isComparedByColumn } from '../criteria/is-compared-by-column.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'

/** Items with conditions, found by an equality that their condition demands where it demands one. */
export class EqualityIndex<Item> {
  /** By attribute and value. */
  readonly #byEquality = new Map<string, Map<Json, Set<Item>>>()
  readonly #others = new Set<Item>()

  add(item: Item, where: Condition | undefined): void {
    this.#placeOf(where).add(item)
  }

  remove(item: Item, where: Condition | undefined): void {
    this.#placeOf(where).delete(item)
    const equality = where && equalityIn(where)
    if (!equality) return
    const byValue = this.#byEquality.get(equality.attribute.name)
    if (byValue?.get(equality.operand)?.size === 0) byValue.delete(equality.operand)
    if (byValue?.size === 0) this.#byEquality.delete(equality.attribute.name)
  }

  /** The items whose condition one of the images can match. */
  candidates(imagesOf: () => readonly (JsonObject | undefined)[]): Iterable<Item> {
    if (this.#byEquality.size === 0) return this.#others
    const images = imagesOf()
    const found = new Set(this.#others)
    for (const [attribute, byValue] of this.#byEquality) {
      for (const image of images) {
        const value = image?.[attribute]
        if (value !== undefined) for (const item of byValue.get(value) ?? []) found.add(item)
      }
    }
    return found
  }

  #placeOf(where: Condition | undefined): Set<Item> {
    const equality = where && equalityIn(where)
    if (!equality) return this.#others
    const byValue = getOrInsertComputed(this.#byEquality, equality.attribute.name, () => new Map())
    return getOrInsertComputed(byValue, equality.operand, () => new Set<Item>())
  }
}

/**
 * A comparison that every matching record fulfils. Not one with null, which a value that may not be read is taken for:
 * the index knows the values themselves. Nor one of a hidden attribute, which images do not hold, or of one that only the
 * database can compare.
 */
function equalityIn(where: Condition): Comparison | undefined {
  if (where.kind === 'compare') {
    const { operator, operand, attribute } = where
    return operator.name === '=' && operand !== null && !attribute.hidden && !isComparedByColumn(where)
      ? where
      : undefined
  }
  if (where.kind !== 'and') return undefined
  for (const part of where.conditions) {
    const found = equalityIn(part)
    if (found) return found
  }
  return undefined
}
