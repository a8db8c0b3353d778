import type { Populate } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import type { ScopedStore } from '../storage/scoped-store.ts'
import type { Records } from '../storage/store.ts'
import { embed } from './embed.ts'
import type { EmptyResult, RecordResult } from './operation.ts'

/** The result of writing one record: what the requester may see of it, which may be nothing, with what is embedded in it. */
export async function writtenResult(
  model: Model,
  written: Records,
  populate: readonly Populate[],
  store: ScopedStore,
  created: boolean,
): Promise<RecordResult | EmptyResult> {
  const stored = store.reveal ? await store.reveal(model, written) : written
  if (stored.length === 0) return { kind: 'empty' }
  return { kind: 'record', created, model, records: await embed(stored, populate, store), populate, stored }
}
