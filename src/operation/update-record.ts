import { primaryKeyEquals } from '../criteria/criteria.ts'
import type { Json } from '../protocol/json.ts'
import type { ScopedTransaction } from '../storage/scoped-store.ts'
import type { Records } from '../storage/store.ts'
import { checkTargets, unchecked } from './check-targets.ts'
import { afterMembers, assignmentsOf, writeMembers } from './insert-record.ts'
import type { OperationServices, Precondition } from './operation.ts'
import { isCurrent } from './prepare-members.ts'
import type { PreparedRecord } from './prepare-record.ts'
import { refuseUnwritten } from './unwritten.ts'
import { requireVersion } from './version.ts'

/** The record with this primary key, and what it becomes. */
export interface RecordUpdate {
  readonly id: Json
  readonly record: PreparedRecord
  readonly precondition: Precondition | undefined
}

/**
 * Throws E_NO_SUCH_RECORD, and E_PRECONDITION_FAILED for another version. Returns undefined, and has written nothing, when
 * the record must be prepared again.
 */
export async function updateRecord(
  { id, record, precondition }: RecordUpdate,
  transaction: ScopedTransaction,
  services: OperationServices,
): Promise<Records | undefined> {
  const { model, members } = record
  await requireVersion(model, id, precondition, transaction, services)
  if (!(await isCurrent(record, transaction, services))) return undefined
  const assignments = await assignmentsOf(record, transaction, services)
  await checkTargets(unchecked(assignments, services), model, transaction, id)
  const stored = await transaction.update(model, primaryKeyEquals(model, id), assignments)
  if (stored.length === 0) return refuseUnwritten(model, id, 'change', transaction)
  await writeMembers(members, id, transaction, services)
  return afterMembers(record, stored, transaction)
}
