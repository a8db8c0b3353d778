import type { Condition, Criteria } from '../criteria/criteria.ts'
import type { Association, Attribute, Model } from '../model/model.ts'
import { ObjectCache } from '../support/object-cache.ts'
import type { ReadAccess } from './guard.ts'

/** Guarded criteria, and what the rules said of each model and attribute that they depend on. */
interface Guarded {
  readonly of: Model | Association
  readonly criteria: Criteria
  readonly readable: readonly (readonly [Model, Condition])[]
  readonly masks: readonly (readonly [Attribute, Condition | undefined])[]
}

/** For one request that is kept as a plan: requesters past this number have its criteria guarded again. */
const keptRequesters = 16

const kept = new ObjectCache<Criteria, Guarded[]>()

/**
 * Criteria of a plan, of a model or the members of an association, guarded once for all requesters with the same outcome of
 * the rules. They are the same object then, by which the store finds the compiled statement.
 */
export function guardOnce(
  of: Model | Association,
  criteria: Criteria,
  access: ReadAccess,
  guard: (access: ReadAccess) => Criteria,
): Criteria {
  let list = kept.get(criteria)
  if (list) {
    for (const guarded of list) if (guarded.of === of && isSame(guarded, access)) return guarded.criteria
  } else {
    list = []
    kept.set(criteria, list)
  }
  const recording = new RecordingAccess(access)
  const guarded = { of, criteria: guard(recording), readable: [...recording.readableOf], masks: [...recording.maskOf] }
  if (list.length >= keptRequesters) list.shift()
  list.push(guarded)
  return guarded.criteria
}

function isSame({ readable, masks }: Guarded, access: ReadAccess): boolean {
  for (const [model, condition] of readable) if (access.readable(model) !== condition) return false
  for (const [attribute, mask] of masks) if (access.mask(attribute) !== mask) return false
  return true
}

/** Records which rules were evaluated, and with what result. What no rule is about is the same for every requester. */
class RecordingAccess implements ReadAccess {
  readonly readableOf = new Map<Model, Condition>()
  readonly maskOf = new Map<Attribute, Condition | undefined>()
  readonly #access: ReadAccess

  constructor(access: ReadAccess) {
    this.#access = access
  }

  get hasMasks(): boolean {
    return this.#access.hasMasks
  }

  readable(model: Model): Condition {
    const condition = this.#access.readable(model)
    this.readableOf.set(model, condition)
    return condition
  }

  isMaskable(attribute: Attribute): boolean {
    return this.#access.isMaskable(attribute)
  }

  mask(attribute: Attribute): Condition | undefined {
    const mask = this.#access.mask(attribute)
    if (this.isMaskable(attribute)) this.maskOf.set(attribute, mask)
    return mask
  }
}
