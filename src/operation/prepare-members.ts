import type { Json } from '../protocol/json.ts'
import type { ScopedReads } from '../storage/scoped-store.ts'
import type { HookCaller } from './hooks/before.ts'
import { areAllPrepared, noChanges, type PreparedChanges, prepareChanges } from './hooks/linked-changes.ts'
import { hasPairHooks, type MemberWrite, memberChanges, NewMember, pairChange } from './member-changes.ts'
import type { OperationServices } from './operation.ts'
import type { PreparedRecord } from './prepare-record.ts'

/** Runs the hooks of what a change of members changes. `created`: how many of the members are new. */
export async function prepareMembers(
  write: MemberWrite,
  created: number,
  caller: HookCaller,
): Promise<PreparedChanges> {
  const { services, reads } = caller
  if (!services.hooks) return noChanges
  const { association, parent } = write
  const changes = [...(await memberChanges(write, reads, services))]
  if (association.kind === 'manyToMany' && hasPairHooks(association, services))
    for (let index = 0; index < created; index++) changes.push(pairChange(association, parent, new NewMember(index)))
  if (changes.length === 0) return noChanges
  if (parent !== undefined) await assertMayChangeParent(write, parent, created, reads)
  return prepareChanges(changes, caller, 'rules')
}

/** Whether hooks ran for records that its members are, so that its transaction must find the same ones. */
export const hasChanges = ({ members, parents }: PreparedRecord): boolean =>
  members.some(({ changes, created }) => changes.size > 0 || created.some(hasChanges)) ||
  parents.some(({ record }) => hasChanges(record))

/** Throws E_FORBIDDEN before any hook runs. */
async function assertMayChangeParent(
  { association, add, remove }: MemberWrite,
  parent: Json,
  created: number,
  reads: ScopedReads,
): Promise<void> {
  if (add.length + created > 0) await reads.assertMayChangeMembers?.('add', association, [parent])
  if (remove.length > 0) await reads.assertMayChangeMembers?.('remove', association, [parent])
}

/** Whether hooks ran for all that the members of a record, and of the new records in it, change as the database is now. */
export async function isCurrent(
  { members, parents }: PreparedRecord,
  reads: ScopedReads,
  services: OperationServices,
): Promise<boolean> {
  if (!services.hooks) return true
  for (const { association, ids: add, created, changes, parent } of members) {
    const found = await memberChanges({ association, parent, add, remove: 'others' }, reads, services)
    if (!areAllPrepared(found, changes)) return false
    for (const record of created) if (!(await isCurrent(record, reads, services))) return false
  }
  for (const { record } of parents) if (!(await isCurrent(record, reads, services))) return false
  return true
}
