import { idIn, orderByPrimaryKey } from '../../criteria/criteria.ts'
import type { RecordId } from '../../protocol/change.ts'
import type { CurrentMembers } from '../../realtime/remaining-members.ts'
import type { Store } from '../../storage/store.ts'
import { andThen } from '../../support/maybe-promise.ts'

/** Reads which records are members of others, as it is stored now. */
export const currentMembersOf =
  (store: Store): CurrentMembers =>
  (association, ids, members) => {
    const { target } = association
    const { primaryKey } = target
    const where = idIn(target, members)
    const page = { where, sort: orderByPrimaryKey(target), limit: members.length, skip: 0, select: [primaryKey] }
    return andThen(store.related(association, ids, page), ({ records, ends }) => {
      const keys = records.values(primaryKey) as readonly RecordId[]
      return new Map(ids.map((id, index) => [id, new Set(keys.slice(ends[index - 1] ?? 0, ends[index]))]))
    })
  }
