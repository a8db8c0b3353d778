import { conditionShape } from '../criteria/condition-key.ts'
import type { Condition } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import { ShapeEvaluation } from './shape-evaluation.ts'

/** Where the verdict on a condition is found. */
export interface VerdictLocation {
  readonly evaluation: ShapeEvaluation
  readonly position: number
}

/** Past this number of conditions, or twice as many as are in use, those of requesters that no longer listen are forgotten. */
const keptConditions = 20_000

/** Conditions of rules by model and shape. */
export class RuleShapes {
  #byModel = new Map<Model, Map<string, ShapeEvaluation>>()
  #locations = new WeakMap<Condition, VerdictLocation>()
  #added = 0
  #mostInUse = 0

  /** The same until `trim`. */
  locationOf(condition: Condition, model: Model): VerdictLocation {
    return getOrInsertComputed(this.#locations, condition, () => {
      this.#added++
      const shapes = getOrInsertComputed(this.#byModel, model, () => new Map<string, ShapeEvaluation>())
      const evaluation = getOrInsertComputed(shapes, conditionShape(condition), () => new ShapeEvaluation(condition))
      return { evaluation, position: evaluation.add(condition) }
    })
  }

  /** Begins anew when most of the conditions may be those of requesters that no longer listen. */
  trim(inUse: number): void {
    // A single subscriber that reads what it missed is judged by itself.
    this.#mostInUse = Math.max(this.#mostInUse, inUse)
    if (this.#added <= Math.max(keptConditions, 2 * this.#mostInUse)) return
    this.#byModel = new Map()
    this.#locations = new WeakMap()
    this.#added = 0
    this.#mostInUse = inUse
  }
}
