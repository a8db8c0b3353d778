import type { Comparison } from '../criteria/criteria.ts'
import type { Attribute } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import { addBit, type Bits, complement, emptyBits } from '../support/bits.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'

/** An operand, and which of the conditions have it. */
interface Operand {
  readonly value: Json
  readonly positions: number[]
}

/**
 * Comparisons of one attribute by one operator that differ in their operands, one for each condition of a shape. For a value
 * it finds those that hold: equalities by a look-up, orders by a binary search, others by a test for each distinct operand.
 */
export class OperandIndex {
  readonly attribute: Attribute
  readonly #operator: Comparison['operator']
  /** Whether greater operands are those for which the comparison holds. */
  readonly #isLess: boolean
  readonly #find: (value: Json, size: number) => Bits
  readonly #byKey = new Map<Json, Operand>()
  /** In the order of the operands' values, where the operator compares orders. */
  readonly #inOrder: Operand[] = []

  constructor({ attribute, operator, operand }: Comparison) {
    this.attribute = attribute
    this.#operator = operator
    this.#isLess = operator.name.startsWith('<')
    this.#find = this.#strategy(operand)
  }

  add({ operand }: Comparison, position: number): void {
    if (this.#find === this.#equal || this.#find === this.#unequal) {
      const items = Array.isArray(operand) ? new Set(operand as readonly Json[]) : [operand]
      for (const item of items) this.#operandOf(item, item).positions.push(position)
      return
    }
    const known = this.#byKey.size
    const added = this.#operandOf(typeof operand === 'object' ? JSON.stringify(operand) : operand, operand)
    added.positions.push(position)
    if (this.#find === this.#ordered && this.#byKey.size > known)
      this.#inOrder.splice(this.#boundary(operand), 0, added)
  }

  /** The positions whose comparison holds for the value. */
  find(value: Json, size: number): Bits {
    return this.#find(value, size)
  }

  #strategy(operand: Json): (value: Json, size: number) => Bits {
    const isEmpty = Array.isArray(operand) && operand.length === 0
    // The conditions of a shape have no null, and no empty list, where others have values.
    if (operand === null || isEmpty) return this.#tested
    switch (this.#operator.name) {
      case '=':
      case 'in':
        return this.#equal
      case '!=':
      case 'nin':
        return this.#unequal
      case '<':
      case '<=':
      case '>':
      case '>=':
        return this.#ordered
      default:
        return this.#tested
    }
  }

  readonly #equal = (value: Json, size: number): Bits => setOf(this.#byKey.get(value)?.positions ?? [], size)

  readonly #unequal = (value: Json, size: number): Bits =>
    value === null ? emptyBits(size) : complement(this.#equal(value, size))

  readonly #ordered = (value: Json, size: number): Bits => {
    const bits = emptyBits(size)
    if (value === null) return bits
    const boundary = this.#boundary(value)
    const [from, to] = this.#isLess ? [boundary, this.#inOrder.length] : [0, boundary]
    for (let at = from; at < to; at++)
      for (const position of (this.#inOrder[at] as Operand).positions) addBit(bits, position)
    return bits
  }

  readonly #tested = (value: Json, size: number): Bits => {
    const bits = emptyBits(size)
    for (const operand of this.#byKey.values()) {
      if (!this.#operator.matches(value, operand.value, this.attribute)) continue
      for (const position of operand.positions) addBit(bits, position)
    }
    return bits
  }

  /** The first operand in order for which the comparison with the value is what it is for all greater ones. */
  #boundary(value: Json): number {
    let [low, high] = [0, this.#inOrder.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const holds = this.#operator.matches(value, (this.#inOrder[middle] as Operand).value, this.attribute)
      if (holds === this.#isLess) high = middle
      else low = middle + 1
    }
    return low
  }

  #operandOf(key: Json, value: Json): Operand {
    return getOrInsertComputed(this.#byKey, key, () => ({ value, positions: [] }))
  }
}

function setOf(positions: readonly number[], size: number): Bits {
  const bits = emptyBits(size)
  for (const position of positions) addBit(bits, position)
  return bits
}
