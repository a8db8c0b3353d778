import { conditionKey } from '../criteria/condition-key.ts'
import type { Comparison, Condition, Related } from '../criteria/criteria.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Images } from '../realtime/visibility.ts'
import { addBit, type Bits, complement, emptyBits, hasBit, intersection, union } from '../support/bits.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import { isDecidedByImages } from './condition-parts.ts'
import { OperandIndex } from './operand-index.ts'

/** A condition that images cannot decide: on other records, or on hidden attributes. The database decides it. */
export type DatabaseCondition = Related | Comparison

/** The result of the database for one of the images; undefined if it is no longer known. */
export type DatabaseDecision = (
  condition: DatabaseCondition,
  images: Images,
  side: 'before' | 'after',
) => boolean | undefined

/** The positions of the conditions that hold and of those that do not; of the others it is no longer known. */
interface Verdicts {
  readonly yes: Bits
  readonly no: Bits
}

/** The same object for both images where the change left all that is compared as it was. */
interface Outcome {
  readonly before: Verdicts | undefined
  readonly after: Verdicts | undefined
}

/** What a part of the shape says of both images, for the conditions of the shape all together. */
interface Part {
  add(condition: Condition, position: number): void
  decide(images: Images, size: number, inDatabase: DatabaseDecision): Outcome
}

/**
 * Conditions that differ in their values only. They are decided together, for the record before a change and for the one
 * after it, by one pass over their common shape.
 */
export class ShapeEvaluation {
  readonly #root: Part
  readonly #positions = new Map<string, number>()

  constructor(condition: Condition) {
    this.#root = partOf(condition)
  }

  /** The position of the condition in what `decide` returns; the same one for equal conditions. */
  add(condition: Condition): number {
    return getOrInsertComputed(this.#positions, conditionKey(condition), () => {
      const position = this.#positions.size
      this.#root.add(condition, position)
      return position
    })
  }

  decide(images: Images, inDatabase: DatabaseDecision): Outcome {
    return this.#root.decide(images, this.#positions.size, inDatabase)
  }
}

/** The verdict at a position; undefined if it is no longer known. */
export function verdictAt(verdicts: Verdicts | undefined, position: number): boolean | undefined {
  if (!verdicts) return undefined
  return hasBit(verdicts.yes, position) || (hasBit(verdicts.no, position) ? false : undefined)
}

function partOf(condition: Condition): Part {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return new CombinationPart(condition.kind, condition.conditions.map(partOf))
    case 'not':
      return new NegationPart(partOf(condition.condition))
    case 'related':
      return new DatabasePart()
    case 'compare':
      if (!isDecidedByImages(condition)) return new DatabasePart()
      return new ComparisonPart(new OperandIndex(condition))
  }
}

class CombinationPart implements Part {
  readonly #kind: 'and' | 'or'
  readonly #parts: readonly Part[]

  constructor(kind: 'and' | 'or', parts: readonly Part[]) {
    this.#kind = kind
    this.#parts = parts
  }

  add(condition: Condition, position: number): void {
    const { conditions } = condition as Extract<Condition, { kind: 'and' | 'or' }>
    for (const [at, part] of this.#parts.entries()) part.add(conditions[at] as Condition, position)
  }

  decide(images: Images, size: number, inDatabase: DatabaseDecision): Outcome {
    const outcomes = this.#parts.map((part) => part.decide(images, size, inDatabase))
    const combined = (side: 'before' | 'after'): Verdicts | undefined => {
      if (!images[side]) return undefined
      const verdicts = outcomes.map((outcome) => outcome[side] as Verdicts)
      const [yes, no] = [verdicts.map(({ yes }) => yes), verdicts.map(({ no }) => no)]
      return this.#kind === 'and'
        ? { yes: intersection(yes, size), no: union(no, size) }
        : { yes: union(yes, size), no: intersection(no, size) }
    }
    const before = combined('before')
    const isSame = before && outcomes.every((outcome) => outcome.before === outcome.after)
    return { before, after: isSame ? before : combined('after') }
  }
}

class NegationPart implements Part {
  readonly #part: Part

  constructor(part: Part) {
    this.#part = part
  }

  add(condition: Condition, position: number): void {
    this.#part.add((condition as Extract<Condition, { kind: 'not' }>).condition, position)
  }

  decide(images: Images, size: number, inDatabase: DatabaseDecision): Outcome {
    const { before, after } = this.#part.decide(images, size, inDatabase)
    const negated = before && { yes: before.no, no: before.yes }
    return { before: negated, after: after === before ? negated : after && { yes: after.no, no: after.yes } }
  }
}

class ComparisonPart implements Part {
  readonly #index: OperandIndex

  constructor(index: OperandIndex) {
    this.#index = index
  }

  add(condition: Condition, position: number): void {
    this.#index.add(condition as Extract<Condition, { kind: 'compare' }>, position)
  }

  decide({ before, after }: Images, size: number): Outcome {
    const { name } = this.#index.attribute
    const ofBefore = before && this.#verdicts(before, size)
    const isSame = ofBefore && after && (before[name] ?? null) === (after[name] ?? null)
    return { before: ofBefore, after: isSame ? ofBefore : after && this.#verdicts(after, size) }
  }

  #verdicts(image: JsonObject, size: number): Verdicts {
    const yes = this.#index.find(image[this.#index.attribute.name] ?? null, size)
    return { yes, no: complement(yes) }
  }
}

/** Conditions that the database has decided, each distinct one once. */
class DatabasePart implements Part {
  readonly #distinct = new Map<string, { readonly condition: DatabaseCondition; readonly positions: number[] }>()

  add(condition: Condition, position: number): void {
    const { positions } = getOrInsertComputed(this.#distinct, conditionKey(condition), () => ({
      condition: condition as DatabaseCondition,
      positions: [],
    }))
    positions.push(position)
  }

  decide(images: Images, size: number, inDatabase: DatabaseDecision): Outcome {
    const verdicts = (side: 'before' | 'after'): Verdicts | undefined => {
      if (!images[side]) return undefined
      const [yes, no] = [emptyBits(size), emptyBits(size)]
      for (const { condition, positions } of this.#distinct.values()) {
        const decided = inDatabase(condition, images, side)
        if (decided !== undefined) for (const position of positions) addBit(decided ? yes : no, position)
      }
      return { yes, no }
    }
    return { before: verdicts('before'), after: verdicts('after') }
  }
}
