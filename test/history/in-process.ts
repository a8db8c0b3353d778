import { createService, type JsonObject } from '../../src/index.ts'
import { type ModelName, models, settings } from './models.ts'

interface LooseEvent {
  readonly verb: string
  readonly position?: string
}

/** Records without their types: what is asked here is made up as it goes. */
interface LooseRecords {
  find(options: object): Promise<{ readonly data: readonly JsonObject[] }>
  live(options: object): AsyncIterableIterator<LooseEvent>
}

/** A service in this process, over the same database as the servers. */
export interface InProcess extends AsyncDisposable {
  readonly records: Readonly<Record<ModelName, LooseRecords>>
  /** Lets go of everything in the log. */
  trim(): Promise<void>
}

export async function openInProcess(database: string): Promise<InProcess> {
  const service = await createService({ ...settings, models, database })
  return {
    records: service.system.records as unknown as InProcess['records'],
    trim: () => service.changes.trim({ ageMs: 0, rows: 0 }),
    [Symbol.asyncDispose]: () => service.close(),
  }
}
