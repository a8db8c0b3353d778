import type { RecordId } from '../protocol/change.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { byName } from './by-name.ts'
import type { Answer, CallOptions } from './options.ts'
import { modelClient, type Send, writeRequest } from './records.ts'

/** The answer to one request of a batch. */
interface Part {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
}

/** Sends the requests that `work` makes as one, and resolves with the results that it returns. */
export async function sendBatch(
  send: Send,
  pathOf: (model: string) => string,
  work: (tx: object) => Iterable<unknown>,
  call?: CallOptions,
): Promise<unknown[]> {
  const requests: JsonObject[] = []
  const indexes = new Map<object, number>()
  const answers = Promise.withResolvers<readonly Part[]>()
  // The addresses are relative to the batch's own, because only the service knows its prefix.
  const record: Send = async ({ method, path, body }): Promise<Answer> => {
    const index = requests.push({ method, url: path.slice(1), body } as JsonObject) - 1
    const part = (await answers.promise)[index] as Part
    return { headers: new Headers(part.headers), body: part.body }
  }
  const tx = (model: string): object => {
    if (model === 'result') return result
    const path = pathOf(model)
    const client = modelClient(path, record, async (kind, id, values) => {
      return (await record(writeRequest(path, kind, id as RecordId, values))).body as JsonObject
    })
    return byName((name) => (...args: unknown[]) => {
      const promise = (client[name as 'create'] as (...args: unknown[]) => Promise<unknown>)(...args)
      // The list that `work` returns decides about errors.
      promise.catch(() => {})
      indexes.set(promise, requests.length - 1)
      return promise
    })
  }
  const result = (promise: object): object => byName((name) => ({ $ref: `${indexes.get(promise)}.${name}` }))
  const results = [...work(byName(tx))]
  answers.resolve(
    send({ ...call, method: 'POST', path: '/batch', body: requests }).then(
      ({ body }) => body as unknown as readonly Part[],
    ),
  )
  await answers.promise
  return Promise.all(results)
}
