import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../src/protocol/json.ts'

export interface ReceivedFrame {
  readonly event: string
  readonly data: JsonObject
}

/** Applies a difference to the rows that a client holds, as the protocol says. */
export function applyDifference(rows: readonly JsonObject[], data: JsonObject, key = 'id'): JsonObject[] {
  const list = (name: string) => (data[name] ?? []) as readonly Json[]
  const changed = new Map(list('change').map((record) => [(record as JsonObject)[key], record as JsonObject]))
  const moved = list('move') as unknown as readonly (readonly [number, Json])[]
  const gone = new Set([...list('leave'), ...moved.map(([, id]) => id)])
  const known = new Map(rows.map((row) => [row[key], row]))
  const result = rows.filter((row) => !gone.has(row[key] as Json)).map((row) => changed.get(row[key] as Json) ?? row)
  const inserted = [
    ...(list('enter') as unknown as readonly (readonly [number, JsonObject])[]),
    ...moved.map(([index, id]) => [index, changed.get(id) ?? known.get(id)] as [number, JsonObject]),
  ].sort(([a], [b]) => a - b)
  for (const [index, row] of inserted) {
    assert.ok(row !== undefined && index <= result.length, `no place ${index} in ${result.length} rows`)
    result.splice(index, 0, row)
  }
  return result
}

/** What a client holds of one query. */
export interface HeldQuery {
  rows: JsonObject[]
  position: string
  total: Json | undefined
}

/** Called with the held rows of a query after a frame. */
type OnHeld = (query: string, held: HeldQuery, event: string) => void

/** A client of one stream of live queries. */
export class LiveTestClient {
  readonly frames: ReceivedFrame[] = []
  /** The frames that `next` has not returned. */
  readonly #waiting: ReceivedFrame[] = []
  readonly held = new Map<string, HeldQuery>()
  readonly operations = new Set<string>()
  readonly #abort = new AbortController()
  stream = ''
  isEnded = false
  /** The error of a frame that does not fit the held rows. */
  #failure: unknown
  #wake: (() => void) | undefined
  /** While it is pending, nothing is read. */
  #stalled: PromiseWithResolvers<void> | undefined
  #onHeld: OnHeld | undefined
  ended: Promise<void> = Promise.resolve()

  static async open(
    url: string,
    queries: object,
    headers: Readonly<Record<string, string>> = {},
    /** The rows that it holds from an earlier stream. */
    held: ReadonlyMap<string, HeldQuery> = new Map(),
    operations?: readonly string[],
    onHeld?: OnHeld,
    send: (url: string, init: RequestInit) => Promise<Response> = fetch,
  ): Promise<LiveTestClient> {
    const client = new LiveTestClient()
    for (const [name, query] of held) client.held.set(name, { ...query })
    client.#onHeld = onHeld
    const response = await send(`${url}/live`, {
      method: 'POST',
      body: JSON.stringify({ queries, operations }),
      headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream', ...headers },
      signal: client.#abort.signal,
    })
    assert.equal(response.status, 200, response.status === 200 ? '' : await response.text())
    client.ended = client.#read(response.body as ReadableStream<Uint8Array>)
    await client.until(() => client.stream !== '')
    return client
  }

  /** Reads a response that has waited. */
  static async attach(response: Response, abort: AbortController): Promise<LiveTestClient> {
    const client = new LiveTestClient()
    const body = response.body as ReadableStream<Uint8Array>
    client.#abort.signal.addEventListener('abort', () => abort.abort())
    client.ended = client.#read(body)
    await client.until(() => client.stream !== '')
    return client
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let text = ''
    const decoder = new TextDecoder()
    const reader = body.getReader()
    try {
      for (;;) {
        // Closed by the test, or the server has gone.
        const { value } = await reader.read().catch(() => ({ value: undefined }))
        if (!value) break
        await this.#stalled?.promise
        text += decoder.decode(value, { stream: true })
        for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
          this.#onBlock(text.slice(0, end))
          text = text.slice(end + 2)
        }
      }
    } catch (error) {
      this.#failure = error
    }
    this.isEnded = true
    this.#wake?.()
  }

  #onBlock(block: string): void {
    const fields = new Map(
      block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
    )
    const data = fields.get('data')
    if (data === undefined) return
    this.receive({ event: fields.get('event') ?? '', data: JSON.parse(data) as JsonObject })
    this.#wake?.()
  }

  receive(frame: ReceivedFrame): void {
    const { event, data } = frame
    this.frames.push(frame)
    this.#waiting.push(frame)
    if (event === 'open') this.stream = data.stream as string
    for (const operation of (data.operations ?? []) as readonly string[]) this.operations.add(operation)
    if (event === 'failed') this.held.delete(data.query as string)
    const before = this.held.get(data.query as string)
    const position = data.position as string
    if (event === 'rows')
      this.held.set(data.query as string, {
        rows: [...(data.rows as readonly JsonObject[])],
        position,
        total: data.total,
      })
    if (event === 'diff' && before)
      this.held.set(data.query as string, {
        rows: applyDifference(before.rows, data),
        position,
        total: data.total ?? before.total,
      })
    if (event === 'current' && before) this.held.set(data.query as string, { ...before, position })
    const held = this.held.get(data.query as string)
    if (held && (event === 'rows' || event === 'diff' || event === 'current'))
      this.#onHeld?.(data.query as string, held, event)
  }

  rows(query: string): readonly JsonObject[] | undefined {
    return this.held.get(query)?.rows
  }

  async next(): Promise<ReceivedFrame> {
    await this.until(() => this.#waiting.length > 0)
    return this.#waiting.shift() as ReceivedFrame
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.#failure) throw this.#failure
      assert.ok(!this.isEnded, `the stream ended after ${JSON.stringify(this.frames.at(-1))}`)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** Reads nothing until the test resumes it. */
  stall(isStalled: boolean): void {
    if (isStalled) this.#stalled ??= Promise.withResolvers()
    else {
      this.#stalled?.resolve()
      this.#stalled = undefined
    }
  }

  async close(): Promise<void> {
    this.#abort.abort()
    this.stall(false)
    await this.ended
    if (this.#failure) throw this.#failure
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
