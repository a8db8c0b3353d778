import { allAttributes, matchAll, orderByPrimaryKey } from '../../criteria/criteria.ts'
import type { ModelDefinitions } from '../../model/definition.ts'
import type { Records } from '../../model/inference/records-of.ts'
import type { Model } from '../../model/model.ts'
import type { MetadataTable } from '../../storage/metadata-table.ts'
import type { Store } from '../../storage/store.ts'

/** What a seed works with: every model's records, on behalf of the system itself. */
export interface Seeding<M extends ModelDefinitions = ModelDefinitions> {
  readonly system: { readonly records: Records<M> }
}

/** Receives the progress of the seed. */
export type Progress = (done: number, total: number) => void

/** `done` is written last: until it stands there, a seed that was begun has not come to its end. */
const noteName = 'seed'
type State = 'begun' | 'done'

/**
 * Runs a seed if the database is new, which is to say that no model has a record and none was ever seeded into it; and
 * again if an earlier run did not come to its end. Resolves with whether there was anything to do.
 */
export async function seedOnce(
  run: () => Promise<void>,
  { store, notes, models, isNew }: SeedTarget,
): Promise<boolean> {
  const state = isNew ? undefined : ((await notes.get(noteName)) as State | undefined)
  if (state === 'done') return false
  if (state === undefined) {
    if (!(await isEmpty(store, models))) return false
    await notes.set(noteName, 'begun' satisfies State)
  }
  await run()
  await notes.set(noteName, 'done' satisfies State)
  return true
}

export interface SeedTarget {
  readonly store: Store
  readonly notes: MetadataTable
  /** Those that are served. */
  readonly models: readonly Model[]
  /** Every table was just made anew, whatever was there before. */
  readonly isNew: boolean
}

async function isEmpty(store: Store, models: readonly Model[]): Promise<boolean> {
  for (const model of models) {
    const found = await store.find(model, {
      where: matchAll,
      sort: orderByPrimaryKey(model),
      limit: 1,
      skip: 0,
      select: allAttributes(model),
    })
    if (found.length > 0) return false
  }
  return true
}
