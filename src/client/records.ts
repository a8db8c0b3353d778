import type { RecordId } from '../protocol/change.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { NotFoundError, type RequestError } from './errors.ts'
import type { LiveQuery } from './live/live-query.ts'
import type { Answer, CallOptions, Query, Sending, WriteOptions } from './options.ts'
import { queryString } from './query-string.ts'
import type { PendingWrite } from './writes/pending-write.ts'

export interface LoosePage {
  readonly data: readonly JsonObject[]
  readonly next: string | null
  readonly total?: number
}

type Many = readonly JsonObject[] | number

export type Send = (request: Sending) => Promise<Answer>
export type Perform = (
  kind: PendingWrite['kind'],
  id: RecordId | undefined,
  values: JsonObject,
  call?: WriteOptions,
) => Promise<JsonObject>

/** The key of a record in a path. In a batch it may be that of an earlier result. */
export const segment = (id: RecordId | { readonly $ref: string }): string =>
  `/${typeof id === 'object' ? `$${id.$ref}` : encodeURIComponent(id)}`

/**
 * The operations on the records of one model. The public types are laid over them.
 *
 * @param path The path of the model's routes. @param perform Sends what may be shown before it is answered.
 * @param live The rows of a find, kept as the service has them.
 */
export function modelClient(path: string, send: Send, perform: Perform, live?: (query?: Query) => LiveQuery) {
  /** Sends a request whose path is relative to that of the model. */
  const request = (method: string, relative: string, call?: CallOptions, query?: Query, body?: Json): Promise<Answer> =>
    send({ ...call, method, path: path + relative + embedding(query), body })
  const write = async <T>(...args: Parameters<typeof request>): Promise<T> => (await request(...args)).body as T

  const find = async (query?: Query, call?: CallOptions): Promise<LoosePage> =>
    pageOf(await request('GET', '', call, query))
  const findOne = async (id: RecordId, query?: Query, call?: CallOptions): Promise<JsonObject | undefined> => {
    try {
      return await write('GET', segment(id), call, query)
    } catch (error) {
      if ((error as RequestError).code === 'E_NO_SUCH_RECORD') return undefined
      throw error
    }
  }

  return {
    live,
    find,
    findOne,
    /** Every record that matches, page by page; `limit` is the size of a page. */
    async *all(query: Query = {}, call?: CallOptions): AsyncGenerator<JsonObject> {
      const { skip, ...others } = query
      for (let part = query; ; ) {
        const { data, next } = await find(part, call)
        yield* data
        if (next === null) return
        part = { ...others, cursor: next }
      }
    },
    count: async ({ where = {} }: Query = {}, call?: CallOptions): Promise<number> =>
      (await find({ where, limit: 0, count: true }, call)).total as number,
    async related(
      id: RecordId,
      name: string,
      query?: Query,
      call?: CallOptions,
    ): Promise<LoosePage | JsonObject | undefined> {
      try {
        const answer = await request('GET', association(id, name), call, query)
        return Array.isArray(answer.body) ? pageOf(answer) : (answer.body as JsonObject)
      } catch (error) {
        // Either the to-one association is empty, or there is no record whose association it could be.
        if (error instanceof NotFoundError && (await findOne(id, {}, call))) return undefined
        throw error
      }
    },
    create: (values: JsonObject, call?: WriteOptions): Promise<JsonObject> =>
      perform('create', undefined, values, call),
    createMany: (list: readonly JsonObject[], call?: CallOptions): Promise<readonly JsonObject[]> =>
      write('POST', '', call, {}, list),
    update: (id: RecordId, values: JsonObject, call?: WriteOptions): Promise<JsonObject> =>
      perform('update', id, values, call),
    updateMany: async (selected: Query, values: JsonObject, call?: CallOptions): Promise<Many> =>
      many(await write('PATCH', '', call, selected, values)),
    destroy: (id: RecordId, call?: WriteOptions): Promise<JsonObject> => perform('destroy', id, {}, call),
    destroyMany: async (selected: Query, call?: CallOptions): Promise<Many> =>
      many(await write('DELETE', '', call, selected)),
    upsert: (unique: string, values: JsonObject, call?: CallOptions): Promise<JsonObject> =>
      write('POST', '', call, { upsert: unique }, values),
    add: (id: RecordId, name: string, member: RecordId, call?: CallOptions): Promise<JsonObject> =>
      write('PUT', association(id, name) + segment(member), call, { populate: name }),
    remove: (id: RecordId, name: string, member: RecordId, call?: CallOptions): Promise<JsonObject> =>
      write('DELETE', association(id, name) + segment(member), call, { populate: name }),
    replace: (id: RecordId, name: string, members: readonly RecordId[], call?: CallOptions): Promise<JsonObject> =>
      write('PUT', association(id, name), call, { populate: name }, members),
  }
}

const association = (id: RecordId, name: string): string => `${segment(id)}/${name}`

/** The answer to a write of many records: the records, or how many they are. */
const many = (written: readonly JsonObject[] | { readonly count: number }): Many =>
  (written as { readonly count?: number }).count ?? (written as Many)

/** Associations are embedded only where `populate` says so. */
const embedding = (query?: Query): string => queryString({ populate: false, ...query })

const methods = { create: 'POST', update: 'PATCH', destroy: 'DELETE' } as const

/** The request of a write. */
export const writeRequest = (path: string, kind: PendingWrite['kind'], id: RecordId, values: JsonObject): Sending => ({
  method: methods[kind],
  path: (kind === 'create' ? path : path + segment(id)) + embedding(),
  body: kind === 'destroy' ? undefined : values,
})

function pageOf({ headers, body }: Answer): LoosePage {
  const total = headers.get('X-Total-Count')
  const cursor = /[?&]cursor=([^&>]+)[^>]*>; *rel="?next/.exec(headers.get('Link') ?? '')?.[1]
  return {
    data: body as readonly JsonObject[],
    next: cursor ? decodeURIComponent(cursor) : null,
    ...(total && { total: Number(total) }),
  }
}
