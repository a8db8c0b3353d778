import { createService, type JsonObject } from '../../../src/index.ts'
import { type ModelName, models, settings } from './models.ts'
import { auth, ruledModels, type UserName } from './rules.ts'

export interface LooseEvent {
  readonly verb: string
  readonly position?: string
}

/** Records without static types: the models of a request are chosen at run time. */
interface LooseRecords {
  find(options: object): Promise<{ readonly data: readonly JsonObject[] }>
  live(options: object): AsyncIterableIterator<LooseEvent>
}

/** A service in this process, over the same database as the servers. */
export interface InProcess extends AsyncDisposable {
  /** The records on behalf of a user, in a history with rules, or of the system. */
  recordsOf(user: UserName | undefined): Readonly<Record<ModelName, LooseRecords>>
  /** A request as clients send it: answers to lists are kept. */
  fetch(path: string, init: RequestInit): Promise<Response>
  /** The position of a change in the middle of a recent operation; undefined when there is none. */
  insideOperation(): Promise<string | undefined>
  /** Trims the whole log. */
  trim(): Promise<void>
}

export async function openInProcess(database: string, isRuled: boolean): Promise<InProcess> {
  const service = isRuled
    ? await createService({ ...settings, auth, models: ruledModels, database })
    : await createService({ ...settings, models, database })
  let seen = await service.changes.head()
  return {
    recordsOf(user) {
      const { records } = user === undefined ? service.system : service.as({ name: user })
      return records as unknown as ReturnType<InProcess['recordsOf']>
    },
    fetch: (path, init) => service.fetch(new Request(`http://localhost${path}`, init)),
    async insideOperation() {
      const batch = await service.changes.read(seen, 500)
      if (batch === 'reset') {
        seen = await service.changes.head()
        return undefined
      }
      const { changes } = batch
      const inside = changes.findLast((change, index) => changes[index + 1]?.operation === change.operation)
      if (changes.length > 250) seen = batch.position
      return inside?.position
    },
    trim: () => service.changes.trim({ ageMs: 0, rows: 0 }),
    [Symbol.asyncDispose]: () => service.close(),
  }
}
