import type { Change, RecordId } from '../protocol/change.ts'

/** A key that an operation destroyed. The indexes are those of the changes. */
interface DestroyedKey {
  /** The first change of the key, which holds the state before the operation. */
  readonly first: Change
  /** The index of the last destroy of the key. */
  readonly destroyedAt: number
  /** The index of the create after that destroy; Infinity if no record has the key afterwards. */
  readonly createdAt: number
}

/**
 * The net effect of the changes of one operation. If a record is destroyed, its earlier changes are left out, and its destroy
 * holds the state before the operation, which subscribers have. A record that exists neither before nor after the operation is
 * left out.
 */
export class NetChanges {
  readonly #changes: readonly Change[]
  readonly #destroyed: ReadonlyMap<string, DestroyedKey>

  constructor(changes: readonly Change[]) {
    this.#changes = changes
    this.#destroyed = destroyedKeys(changes)
  }

  *[Symbol.iterator](): Generator<readonly [index: number, change: Change]> {
    for (const [index, change] of this.#changes.entries()) {
      const key = this.#keyOf(change)
      if (!key || index > key.destroyedAt) yield [index, change]
      else if (index === key.destroyedAt && key.first.verb !== 'created') yield [index, beganAs(key.first, change)]
    }
  }

  /** Whether the record that lost or gained a member by the change at this index no longer exists afterwards. */
  isObsolete(event: { readonly verb: string; readonly model: string; readonly id: RecordId }, index: number): boolean {
    const key = this.#keyOf(event)
    if (!key) return false
    if (key.createdAt === Number.POSITIVE_INFINITY) return true
    return index < (event.verb === 'addedTo' ? key.destroyedAt : key.createdAt)
  }

  #keyOf({ model, id }: Pick<Change, 'model' | 'id'>): DestroyedKey | undefined {
    return this.#destroyed.size === 0 ? undefined : this.#destroyed.get(keyOf(model, id))
  }
}

function destroyedKeys(changes: readonly Change[]): ReadonlyMap<string, DestroyedKey> {
  const destroyed = new Map<string, DestroyedKey>()
  if (!changes.some(({ verb }) => verb === 'destroyed')) return destroyed
  const firsts = new Map<string, Change>()
  for (const [index, change] of changes.entries()) {
    const key = keyOf(change.model, change.id)
    const first = firsts.get(key) ?? change
    firsts.set(key, first)
    const earlier = destroyed.get(key)
    if (change.verb === 'destroyed') {
      destroyed.set(key, { first, destroyedAt: index, createdAt: Number.POSITIVE_INFINITY })
    } else if (change.verb === 'created' && earlier) {
      destroyed.set(key, { ...earlier, createdAt: index })
    }
  }
  return destroyed
}

const beganAs = ({ before }: Change, destroy: Change): Change =>
  before === undefined ? destroy : { ...destroy, before }

const keyOf = (model: string, id: Change['id']): string => `${model}/${JSON.stringify(id)}`
