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

export const segment = (id: RecordId): string => `/${encodeURIComponent(id)}`

/** The operations on the records of one model. The public types are laid over them. */
export class ModelClient {
  readonly #path: string
  readonly #send: Send
  readonly #perform: Perform
  /** The rows of a find, kept as the service has them. */
  readonly live: ((query?: Query) => LiveQuery) | undefined

  /** @param path The path of the model's routes. @param perform Sends what may be shown before it is answered. */
  constructor(path: string, send: Send, perform: Perform, live?: (query?: Query) => LiveQuery) {
    this.#path = path
    this.#send = send
    this.#perform = perform
    this.live = live
  }

  async find(query?: Query, call?: CallOptions): Promise<LoosePage> {
    return pageOf(await this.#get('', query, call))
  }

  /** Every record that matches, page by page; `limit` is the size of a page. */
  async *all(query: Query = {}, call?: CallOptions): AsyncGenerator<JsonObject> {
    const { skip, ...others } = query
    let page = await this.find(query, call)
    yield* page.data
    while (page.next !== null) {
      page = await this.find({ ...others, cursor: page.next }, call)
      yield* page.data
    }
  }

  async findOne(id: RecordId, query?: Query, call?: CallOptions): Promise<JsonObject | undefined> {
    try {
      return (await this.#get(segment(id), query, call)).body as JsonObject
    } catch (error) {
      if ((error as RequestError).code === 'E_NO_SUCH_RECORD') return undefined
      throw error
    }
  }

  async count({ where = {} }: Query = {}, call?: CallOptions): Promise<number> {
    return Number((await this.#get('', { where, limit: 0, count: true }, call)).headers.get('X-Total-Count'))
  }

  async related(
    id: RecordId,
    name: string,
    query?: Query,
    call?: CallOptions,
  ): Promise<LoosePage | JsonObject | undefined> {
    try {
      const answer = await this.#get(`${segment(id)}/${name}`, query, call)
      return Array.isArray(answer.body) ? pageOf(answer) : (answer.body as JsonObject)
    } catch (error) {
      // Either the to-one association is empty, or there is no record whose association it could be.
      if (error instanceof NotFoundError && (await this.findOne(id, {}, call))) return undefined
      throw error
    }
  }

  create(values: JsonObject, call?: WriteOptions): Promise<JsonObject> {
    return this.#perform('create', undefined, values, call)
  }

  createMany(list: readonly JsonObject[], call?: CallOptions): Promise<readonly JsonObject[]> {
    return this.#write('POST', '', list, call)
  }

  update(id: RecordId, values: JsonObject, call?: WriteOptions): Promise<JsonObject> {
    return this.#perform('update', id, values, call)
  }

  updateMany(selected: Query, values: JsonObject, call?: CallOptions): Promise<Many> {
    return this.#many('PATCH', selected, values, call)
  }

  destroy(id: RecordId, call?: WriteOptions): Promise<JsonObject> {
    return this.#perform('destroy', id, {}, call)
  }

  destroyMany(selected: Query, call?: CallOptions): Promise<Many> {
    return this.#many('DELETE', selected, undefined, call)
  }

  upsert(unique: string, values: JsonObject, call?: CallOptions): Promise<JsonObject> {
    return this.#write('POST', '', values, call, { upsert: unique })
  }

  add(id: RecordId, name: string, member: RecordId, call?: CallOptions): Promise<JsonObject> {
    return this.#member('PUT', id, name, segment(member), undefined, call)
  }

  remove(id: RecordId, name: string, member: RecordId, call?: CallOptions): Promise<JsonObject> {
    return this.#member('DELETE', id, name, segment(member), undefined, call)
  }

  replace(id: RecordId, name: string, members: readonly RecordId[], call?: CallOptions): Promise<JsonObject> {
    return this.#member('PUT', id, name, '', members, call)
  }

  async #many(method: string, selected: Query, values: JsonObject | undefined, call?: CallOptions): Promise<Many> {
    const written = await this.#write<readonly JsonObject[] | { readonly count: number }>(
      method,
      '',
      values,
      call,
      selected,
    )
    return 'count' in written ? written.count : written
  }

  #member(method: string, id: RecordId, name: string, child: string, body: Json | undefined, call?: CallOptions) {
    return this.#write<JsonObject>(method, `${segment(id)}/${name}${child}`, body, call, { populate: name })
  }

  #get(path: string, query: Query | undefined, call: CallOptions | undefined): Promise<Answer> {
    return this.#send({ ...call, method: 'GET', path: this.#path + path + embedding(query) })
  }

  async #write<T>(method: string, path: string, body: Json | undefined, call?: CallOptions, query?: Query): Promise<T> {
    return (await this.#send({ ...call, method, path: this.#path + path + embedding(query), body })).body as T
  }
}

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
    next: cursor === undefined ? null : decodeURIComponent(cursor),
    ...(total !== null && { total: Number(total) }),
  }
}
