import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { applyDiff } from '../../src/client/live/diff.ts'
import type { JsonObject } from '../../src/protocol/json.ts'

type Row = JsonObject & { readonly id: number }
interface Query {
  readonly model: string
  readonly where?: JsonObject
  readonly sort?: string
  readonly limit?: number
  readonly after?: string
  readonly ids?: readonly number[]
}

/**
 * A small service of one model `card` over HTTP, with the wire protocol of live queries. Tests decide when an answer and
 * when the frames of a stream are sent; the order of the frames stays.
 */
export class FakeService implements AsyncDisposable {
  readonly rows = new Map<number, Row>()
  /** Every request, as `METHOD path`, and its headers. */
  readonly requests: { readonly line: string; readonly headers: IncomingMessage['headers']; readonly body: unknown }[] =
    []
  /** Waits before a write is performed, and before its answer is sent. */
  beforeWrite: () => Promise<void> = async () => {}
  beforeAnswer: () => Promise<void> = async () => {}
  /** Waits before a frame is sent. */
  beforeFrame: () => Promise<void> = async () => {}
  onCommit: (row: Row | { readonly id: number; readonly gone: true }) => void = () => {}
  /** Every request breaks. */
  isDown = false
  /** The number of requests that broke for that reason. */
  dropped = 0
  /** Answers every request instead of the service, as a proxy. */
  proxyAnswer: readonly [status: number, type: string, retryAfter?: string] | undefined
  /** Requests with longer bodies get 413. */
  maxBody = Number.POSITIVE_INFINITY
  /** Refuses queries with this limit. */
  refusedLimit = 0
  /** Refuses the next write with this status. */
  refuseWith: number | undefined
  /** Breaks the connection of the next write: before it is performed, or instead of its answer. */
  breakNext: 'before' | 'after' | undefined
  beforeBreak: () => void = () => {}
  /** Answers every write as the repetition of one that is being executed. */
  isExecuting = false
  readonly #server: Server
  readonly #streams = new Map<string, Stream>()
  /** Answers by their keys, each with its request. Refusals are not kept. */
  readonly #answers = new Map<string, readonly [number, JsonObject, string, string]>()
  /** The number of writes that were performed. */
  performed = 0
  #position = 0
  #count = 0

  private constructor() {
    this.#server = createServer((request, response) => void this.#handle(request, response))
  }

  static async start(): Promise<FakeService> {
    const fake = new FakeService()
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve))
    return fake
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get streams(): number {
    return this.#streams.size
  }

  /** A write of another client. */
  write(row: Row | { readonly id: number; readonly gone: true }): void {
    this.#commit(row, undefined)
  }

  /** Resolves when the frames of all streams are sent and were received by clients of this process. */
  async sent(): Promise<void> {
    await Promise.all([...this.#streams.values()].map(({ sending }) => sending))
    // A request after the frames: its answer is read after them.
    for (let turn = 0; turn < 5; turn++) await (await fetch(`${this.url}/card/0`)).text()
  }

  /** Ends all streams, as a network failure does; `event` says something before. */
  cut(event?: string): void {
    for (const stream of [...this.#streams.values()]) {
      if (event) stream.response.write(`event: ${event}\ndata: {}\n\n`)
      stream.response.destroy()
    }
  }

  /** The query of this name fails on all streams, which no longer have it. */
  failQuery(name: string, error: JsonObject, retryAfter?: number): void {
    for (const stream of this.#streams.values())
      if (stream.queries.delete(name)) this.#frame(stream, 'failed', { query: name, error, retryAfter })
  }

  /** Forgets positions: streams that continue get all rows again. */
  forget(): void {
    this.#position += 1_000_000
  }

  /** Changes of streams are refused, as by another process; the streams go on. */
  forgetStreams(): void {
    this.#streams.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.isDown) {
      this.dropped++
      return void response.destroy()
    }
    let text = ''
    for await (const piece of request) text += piece
    const body = text === '' ? undefined : JSON.parse(text)
    const { pathname } = new URL(request.url ?? '', this.url)
    this.requests.push({ line: `${request.method} ${pathname}`, headers: request.headers, body })
    if (this.proxyAnswer) {
      const [status, type, retryAfter] = this.proxyAnswer
      const headers = { 'Content-Type': type, ...(retryAfter && { 'Retry-After': retryAfter }) }
      return void response.writeHead(status, headers).end('<!doctype html>')
    }
    if (text.length > this.maxBody) return this.#send(response, 413, { code: 'E_BODY_TOO_LARGE' })
    if (pathname === '/live') return this.#live(body, response)
    const id = Number(pathname.split('/')[2])
    if (request.method === 'GET') return this.#send(response, this.rows.has(id) ? 200 : 404, this.rows.get(id) ?? {})
    await this.#write(request, response, id, body)
  }

  async #write(request: IncomingMessage, response: ServerResponse, given: number, body: JsonObject): Promise<void> {
    await this.beforeWrite()
    const failure = this.breakNext
    this.breakNext = undefined
    if (failure === 'before') {
      this.beforeBreak()
      return void response.destroy()
    }
    if (this.isExecuting) {
      response.setHeader('Retry-After', '1')
      return this.#send(response, 409, { code: 'E_CONFLICT', detail: 'being executed' })
    }
    const key = String(request.headers['idempotency-key'] ?? `none ${++this.#count}`)
    const fingerprint = JSON.stringify([request.method, request.url, body, request.headers['if-match']])
    const answer = this.#answers.get(key) ?? ([...this.#perform(request, given, body), fingerprint] as const)
    if (answer[3] !== fingerprint) return this.#send(response, 422, { code: 'E_IDEMPOTENCY_MISMATCH' })
    const [status, record, token] = answer
    if (status < 400) this.#answers.set(key, answer)
    if (failure === 'after') {
      this.beforeBreak()
      return void response.destroy()
    }
    await this.beforeAnswer()
    this.#send(response, status, record, token)
  }

  #perform(
    { method, headers }: IncomingMessage,
    given: number,
    body: JsonObject,
  ): readonly [number, JsonObject, string] {
    const refused = this.refuseWith
    this.refuseWith = undefined
    if (refused) return [refused, { code: 'E_REFUSED', detail: 'no' }, '']
    const existing = this.rows.get(given)
    if (method !== 'POST' && !existing) return [404, { code: 'E_NO_SUCH_RECORD' }, '']
    const tag = headers['if-match']
    if (tag !== undefined && tag !== tagOf(existing)) return [412, { code: 'E_PRECONDITION_FAILED' }, '']
    const id = method === 'POST' ? Math.max(0, ...this.rows.keys()) + 1 : given
    const row: Row = method === 'POST' ? { rank: 0, ...body, id } : { ...(existing as Row), ...body }
    const token = `t${++this.#count}`
    this.performed++
    this.#commit(method === 'DELETE' ? { id, gone: true } : row, token)
    return [method === 'POST' ? 201 : 200, row, token]
  }

  #send(response: ServerResponse, status: number, body: JsonObject, token = ''): void {
    const tag = tagOf(body as Row)
    response.writeHead(status, {
      'Content-Type': 'application/json',
      ETag: tag,
      ...(token && { 'Keelson-Operation': token }),
    })
    response.end(JSON.stringify(status < 400 ? body : { status, ...body }))
  }

  #commit(row: Row | { readonly id: number; readonly gone: true }, token: string | undefined): void {
    if ('gone' in row) this.rows.delete(row.id)
    else this.rows.set(row.id, row as Row)
    this.onCommit(row)
    this.#position++
    for (const stream of this.#streams.values()) {
      const diffs = [...stream.queries].flatMap(([name, query]) => {
        const rows = this.find(query.query)
        const diff = diffOf(query.rows, rows)
        query.rows = rows
        return diff ? [{ query: name, ...diff }] : []
      })
      // The token is sent with the last frame: then every query has passed the operation.
      for (const [index, diff] of diffs.entries())
        this.#frame(stream, 'diff', { ...diff, ...(token && index === diffs.length - 1 && { operations: [token] }) })
      if (token && diffs.length === 0) this.#frame(stream, 'seen', { operations: [token] })
    }
  }

  #live(body: Live, response: ServerResponse): void {
    const bad = Object.entries({ ...body.queries, ...body.add }).find(
      ([, { model, limit }]) => model !== 'card' || limit === this.refusedLimit,
    )
    const stream = body.stream === undefined ? undefined : this.#streams.get(body.stream)
    if (bad) this.#send(response, 400, { code: 'E_BAD_CRITERIA', query: bad[0] })
    else if (body.stream === undefined) this.#open(body, response)
    else if (!stream) this.#send(response, 404, { code: 'E_NO_SUCH_STREAM' })
    else {
      for (const name of body.remove ?? []) stream.queries.delete(name)
      this.#add(stream, body.add ?? {})
      if (body.operations?.length) this.#frame(stream, 'seen', { operations: body.operations })
      this.#send(response, 200, {})
    }
  }

  #open({ queries = {}, operations = [] }: Live, response: ServerResponse): void {
    const id = `s${++this.#count}`
    const stream: Stream = { response, queries: new Map(), sending: Promise.resolve() }
    this.#streams.set(id, stream)
    response.on('close', () => this.#streams.delete(id))
    response.on('error', () => {})
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    this.#frame(stream, 'open', { stream: id })
    this.#add(stream, queries)
    if (operations.length > 0) this.#frame(stream, 'seen', { operations })
  }

  #add(stream: Stream, queries: Readonly<Record<string, Query>>): void {
    for (const [name, query] of Object.entries(queries)) {
      const rows = this.find(query)
      stream.queries.set(name, { query, rows })
      const { after, ids } = query
      if (after === undefined || Math.abs(Number(after) - this.#position) > 1_000) {
        if (after !== undefined) this.#frame(stream, 'reset', { query: name })
        this.#frame(stream, 'rows', { query: name, key: 'id', rows })
      } else if (Number(after) === this.#position) this.#frame(stream, 'current', { query: name })
      else {
        // The values of all records that may have changed are sent again.
        const held = (ids ?? []).map((id) => ({ id }))
        this.#frame(stream, 'diff', { query: name, ...diffOf(held, rows) })
      }
    }
  }

  find({ where = {}, sort = 'id', limit }: Omit<Query, 'model'>): readonly Row[] {
    const [name = 'id', way] = sort.split(' ')
    const sign = way === 'DESC' ? -1 : 1
    const rows = [...this.rows.values()]
      .filter((row) => Object.entries(where).every(([attribute, value]) => row[attribute] === value))
      .sort((a, b) => sign * order(a[name] as number, b[name] as number) || a.id - b.id)
    return limit === undefined ? rows : rows.slice(0, limit)
  }

  #frame(stream: Stream, event: string, data: object): void {
    const id = String(this.#position)
    const text = `event: ${event}\nid: ${id}\ndata: ${JSON.stringify({ ...data, position: id })}\n\n`
    const wait = this.beforeFrame
    stream.sending = stream.sending.then(async () => {
      await wait()
      stream.response.write(text)
    })
  }
}

interface Live {
  readonly stream?: string
  readonly queries?: Readonly<Record<string, Query>>
  readonly add?: Readonly<Record<string, Query>>
  readonly remove?: readonly string[]
  readonly operations?: readonly string[]
}

interface Stream {
  readonly response: ServerResponse
  readonly queries: Map<string, { readonly query: Query; rows: readonly Row[] }>
  sending: Promise<void>
}

const order = (a: number | string, b: number | string): number => (a < b ? -1 : a > b ? 1 : 0)
const tagOf = (row: JsonObject | undefined): string =>
  `"${Buffer.from(JSON.stringify(row ?? null))
    .toString('base64url')
    .padEnd(22, '-')
    .slice(-22)}-x"`

/** The frames of the protocol; undefined when nothing changed. */
function diffOf(before: readonly JsonObject[], after: readonly Row[]): object | undefined {
  const old = new Map(before.map((row) => [row.id, row]))
  const now = new Map(after.map((row) => [row.id, row]))
  const leave = before.filter(({ id }) => !now.has(id as number)).map(({ id }) => id as number)
  const change = after.filter((row) => old.has(row.id) && JSON.stringify(old.get(row.id)) !== JSON.stringify(row))
  const enter = after.flatMap((row, index) => (old.has(row.id) ? [] : [[index, row] as const]))
  const kept = applyDiff(before, { leave, change, enter }, 'id').map(({ id }) => id)
  const isMoved = kept.some((id, index) => id !== after[index]?.id)
  const move = isMoved ? after.flatMap((row, index) => (old.has(row.id) ? [[index, row.id] as const] : [])) : []
  if (leave.length + change.length + enter.length + move.length === 0) return undefined
  return { leave, change, enter, move }
}
