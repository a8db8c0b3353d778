import { findKey } from '../criteria/criteria.ts'
import type { Assignment } from '../model/assignment.ts'
import { missingReference } from '../model/missing-target.ts'
import type { Model } from '../model/model.ts'
import { noSuchRecord, ServiceError, type Violation } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { ScopedTransaction } from '../storage/scoped-store.ts'
import type { Transaction } from '../storage/store.ts'
import type { OperationServices } from './operation.ts'

/** The references among the assignments for which the database has no foreign key. */
export const unchecked = (
  assignments: readonly Assignment[],
  { unenforced }: OperationServices,
): readonly Assignment[] =>
  unenforced.size === 0 ? [] : assignments.filter(({ attribute, value }) => value !== null && unenforced.has(attribute))

/**
 * Throws E_INVALID_ATTRIBUTES with the rule `exists` for each reference to a record that does not exist. `key`: that of the
 * record that is updated; E_NO_SUCH_RECORD where it does not exist itself.
 */
export async function checkTargets(
  assignments: readonly Assignment[],
  model: Model,
  transaction: Transaction & Pick<ScopedTransaction, 'knows' | 'unscoped'>,
  key?: Json,
): Promise<void> {
  const missing: Record<string, readonly Violation[]> = {}
  for (const { attribute, value } of assignments) {
    const target = attribute.references as Model
    // What the transaction has inserted may have been destroyed since.
    const reads = transaction.knows?.(target, value) ? transaction.unscoped : transaction
    const found = await (reads ?? transaction).find(target, findKey(target, value))
    if (found.length > 0) continue
    missing[attribute.name] = [missingReference(attribute, value, model)]
  }
  const names = Object.keys(missing)
  if (names.length === 0) return
  if (key !== undefined && (await transaction.find(model, findKey(model, key))).length === 0)
    throw noSuchRecord(model.name)
  const message = names.map((name) => `"${name}" ${missing[name]?.[0]?.message}`).join('; ')
  throw new ServiceError('E_INVALID_ATTRIBUTES', message, { model: model.name, invalidAttributes: missing })
}
