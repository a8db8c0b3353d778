import { oneByKey } from '../criteria/criteria.ts'
import type { Assignment } from '../model/assignment.ts'
import type { Model } from '../model/model.ts'
import { ServiceError, type Violation } from '../protocol/errors.ts'
import type { Reads } from '../storage/store.ts'
import { chain, each, type Maybe } from '../support/maybe.ts'
import type { Context } from './operation.ts'

/** The assignments that only we can check: the database has no foreign key for them. */
export const unchecked = (assignments: readonly Assignment[], { unenforced }: Context): readonly Assignment[] =>
  unenforced.size === 0 ? [] : assignments.filter(({ attribute, value }) => value !== null && unenforced.has(attribute))

/** Throws E_INVALID_ATTRIBUTES with the rule `exists` for each that names nobody. */
export function checkTargets(assignments: readonly Assignment[], model: Model, reads: Reads): Maybe<void> {
  const missing: Record<string, readonly Violation[]> = {}
  const looked = each(assignments, ({ attribute, value }) => {
    const target = attribute.references as Model
    return chain(reads.find(target, oneByKey(target, value)), (found) => {
      if (found.length > 0) return
      missing[attribute.name] = [{ rule: 'exists', message: `names a ${target.name} that does not exist` }]
    })
  })
  return chain(looked, () => {
    const names = Object.keys(missing)
    if (names.length === 0) return
    const message = names.map((name) => `"${name}" ${missing[name]?.[0]?.message}`).join('; ')
    throw new ServiceError('E_INVALID_ATTRIBUTES', message, { model: model.name, invalidAttributes: missing })
  })
}
