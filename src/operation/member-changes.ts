import {
  and,
  type Condition,
  eq,
  idIn,
  isNoneOf,
  isOneOf,
  matchAll,
  not,
  orderByPrimaryKey,
} from '../criteria/criteria.ts'
import { type Attribute, type HasMany, type ManyToMany, type Model, originalOf } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { ScopedReads } from '../storage/scoped-store.ts'
import { tooManyAffected } from '../storage/too-many-affected.ts'
import { hasFunctionBefore, type LinkedChange } from './hooks/linked-changes.ts'
import type { OperationServices } from './operation.ts'

/** Which records become members of an association, and which cease to be. */
export interface MemberWrite {
  readonly association: HasMany | ManyToMany
  /** The key of the record; undefined for a new one, which has no members yet. */
  readonly parent: Json | undefined
  readonly add: readonly Json[]
  readonly remove: readonly Json[] | 'others'
}

/** The records that it changes and whose models have hooks before the write; those that the requester may not read are none. */
export async function memberChanges(
  write: MemberWrite,
  reads: ScopedReads,
  services: OperationServices,
): Promise<readonly LinkedChange[]> {
  if (!services.hooks) return []
  const { association } = write
  return association.kind === 'hasMany'
    ? foreignKeyChanges(association, write, reads, services)
    : pairChanges(association, write, reads, services)
}

/** That a record becomes a member by its foreign key, or ceases to be one by null. */
export const foreignKeyChange = ({ via, target }: HasMany, key: Json, parent: Json | undefined): LinkedChange => ({
  write: 'update',
  model: originalOf(target),
  key,
  references: new Map([[via, parent]]),
})

/** The new row of a pair. */
export const pairChange = (
  { junction, near, far }: ManyToMany,
  parent: Json | undefined,
  child: Json | NewMember,
): LinkedChange => ({
  write: 'create',
  model: originalOf(junction),
  key: child instanceof NewMember ? { new: child.index } : child,
  references: new Map([
    [near, parent],
    [far, child instanceof NewMember ? undefined : child],
  ]),
})

/** A record that is created to be a member, by its place among those of one write. */
export class NewMember {
  readonly index: number

  constructor(index: number) {
    this.index = index
  }
}

/** Whether hooks run for the new rows of an association. */
export const hasPairHooks = (association: HasMany | ManyToMany, { hooks }: OperationServices): boolean =>
  hooks !== undefined && association.kind === 'manyToMany' && hasFunctionBefore('create', association.junction)

async function foreignKeyChanges(
  association: HasMany,
  { parent, add, remove }: MemberWrite,
  reads: ScopedReads,
  services: OperationServices,
): Promise<readonly LinkedChange[]> {
  const { via } = association
  const target = originalOf(association.target)
  if (!hasFunctionBefore('update', target)) return []
  const isMember = parent === undefined ? undefined : eq(via, parent)
  const leaving =
    isMember && via.nullable
      ? await readableKeys(target, and(isMember, isRemoved(target.primaryKey, add, remove)), reads, services)
      : []
  const isNew = and(idIn(target, add), isMember ? not(isMember) : matchAll)
  const joining = new Set(add.length > 0 ? await readableKeys(target, isNew, reads, services) : [])
  return [
    ...leaving.map((key) => foreignKeyChange(association, key, null)),
    ...add.filter((key) => joining.has(key)).map((key) => foreignKeyChange(association, key, parent)),
  ]
}

/** Only rows of a declared model have hooks. */
async function pairChanges(
  association: ManyToMany,
  { parent, add, remove }: MemberWrite,
  reads: ScopedReads,
  services: OperationServices,
): Promise<readonly LinkedChange[]> {
  const { near, far, target } = association
  const junction = originalOf(association.junction)
  if (junction.isJunction) return []
  const changes: LinkedChange[] = []
  const isOfParent = parent === undefined ? undefined : eq(near, parent)
  if (isOfParent && hasFunctionBefore('destroy', junction)) {
    const isLeaving = and(isOfParent, isRemoved(far, add, remove))
    const known = await readableKeys(
      target,
      idIn(target, await membersAmong(isLeaving, association, reads, services)),
      reads,
      services,
    )
    const keys = await readableKeys(junction, and(isOfParent, isOneOf(far, known)), reads, services)
    for (const key of keys) changes.push({ write: 'destroy', model: junction, key, references: new Map() })
  }
  if (add.length > 0 && hasFunctionBefore('create', junction)) {
    const present = new Set(
      isOfParent ? await membersAmong(and(isOfParent, isOneOf(far, add)), association, reads, services) : [],
    )
    const readable = new Set(await readableKeys(target, idIn(target, add), reads, services))
    for (const child of add)
      if (readable.has(child) && !present.has(child)) changes.push(pairChange(association, parent, child))
  }
  return changes
}

const isRemoved = (attribute: Attribute, add: readonly Json[], remove: MemberWrite['remove']): Condition =>
  remove === 'others' ? isNoneOf(attribute, add) : isOneOf(attribute, remove)

async function membersAmong(
  where: Condition,
  { junction, far }: ManyToMany,
  reads: ScopedReads,
  { limits: { maxAffected } }: OperationServices,
): Promise<readonly Json[]> {
  const criteria = { where, sort: [], limit: maxAffected, skip: 0, select: [junction.primaryKey, far] }
  return (await (reads.unscoped ?? reads).find(originalOf(junction), criteria)).values(far)
}

/** The condition is that of the write, without rules; the rules decide which of the records the requester may read. */
async function readableKeys(
  given: Model,
  where: Condition,
  reads: ScopedReads,
  { limits: { maxAffected } }: OperationServices,
): Promise<readonly Json[]> {
  const model = originalOf(given)
  const keys = async (from: Pick<ScopedReads, 'find'>, condition: Condition) => {
    const criteria = { where: condition, sort: orderByPrimaryKey(model), limit: maxAffected + 1, skip: 0 }
    return (await from.find(model, { ...criteria, select: [model.primaryKey] })).values(model.primaryKey)
  }
  const found = await keys(reads.unscoped ?? reads, where)
  if (found.length > maxAffected) throw tooManyAffected(model, maxAffected)
  return reads.unscoped && found.length > 0 ? keys(reads, idIn(model, found)) : found
}
