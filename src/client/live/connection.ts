import type { JsonObject } from '../../protocol/json.ts'
import { Backoff } from '../backoff.ts'
import { RequestError, requestError } from '../errors.ts'
import type { HttpSender } from '../http.ts'
import type { ClientOptions, Query } from '../options.ts'
import type { PendingWrites } from '../writes/pending-writes.ts'
import { LiveQuery } from './live-query.ts'
import { type Message, messagesOf } from './server-sent-events.ts'

/** The stream that all live queries of a client share. */
export class LiveConnection {
  readonly #http: HttpSender
  readonly #writes: PendingWrites
  readonly #options: ClientOptions
  readonly #queries: Map<string, LiveQuery>
  /** The names of the queries that the stream has. */
  #known = new Set<string>()
  #stream: string | undefined
  #controller: AbortController | undefined
  #changing = false
  #isRunning = false
  /** The characters of positions and keys in one request: less than a megabyte, which services and proxies take, in any script. */
  #maxHeld = 300_000
  #count = 0
  readonly #backoff: Backoff
  /** Called when the stream opens: the service can be reached. */
  onOpen: () => void = () => {}

  constructor(http: HttpSender, writes: PendingWrites, options: ClientOptions) {
    this.#http = http
    this.#writes = writes
    this.#queries = writes.queries
    this.#options = options
    this.#backoff = new Backoff(options.retryDelayMs)
  }

  open(model: string, query: Query = {}): LiveQuery {
    // As the service receives it: without members that are undefined, and with texts in the place of dates.
    const sent = JSON.parse(JSON.stringify(query))
    const opened = new LiveQuery(`q${++this.#count}`, model, sent, this.#writes, () => this.remove(opened))
    this.#queries.set(opened.name, opened)
    opened.refresh()
    this.#backoff.end()
    this.update()
    return opened
  }

  remove(query: LiveQuery): void {
    clearTimeout(query.retry)
    this.#queries.delete(query.name)
    this.#writes.release()
    this.update()
  }

  /** Connects at once instead of after the delay. */
  wake(): void {
    this.#backoff.failures = 0
    this.#backoff.end()
  }

  /** Ends the connection, which is then made again after a delay. */
  drop(): void {
    this.#controller?.abort()
  }

  /** Closes all queries. */
  close(): void {
    for (const query of this.#queries.values()) query.close()
  }

  /** Tells the service what changed about the queries, once for all changes of a turn. */
  update(): void {
    queueMicrotask(() => {
      if (!this.#queries.size) {
        this.drop()
        this.#controller = undefined
        this.#backoff.end()
      } else {
        void this.#run()
        void this.#change()
      }
    })
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    while (this.#queries.size > 0) {
      let failure: RequestError | undefined
      try {
        await this.#connect()
        this.#catchUp()
      } catch (error) {
        failure = error as RequestError
        // Without a controller, it was the connection of queries that are closed.
        if (this.#failQuery(failure) || !this.#controller) continue
        // The service takes less.
        if (failure?.status === 413 && this.#maxHeld) {
          this.#maxHeld = 0
          continue
        }
        // 429 and 5xx pass; what else refuses the connection is reported as the refusal of its queries, and may pass as well.
        for (const query of this.#queries.values())
          if (failure?.status < 429) query.fail(failure)
          else query.refresh('offline', failure)
      }
      await this.#backoff.wait(failure)
    }
    this.#isRunning = false
  }

  /** Resolves when the service asks for a new connection, rejects when there is none or it broke. */
  async #connect(): Promise<void> {
    const controller = new AbortController()
    this.#controller = controller
    const { heartbeatTimeoutMs = 45_000 } = this.#options
    let timer: ReturnType<typeof setTimeout> | undefined
    const beat = () => {
      clearTimeout(timer)
      timer = setTimeout(() => this.drop(), heartbeatTimeoutMs)
    }
    try {
      beat()
      this.#known = new Set(this.#queries.keys())
      const response = await this.#http.open({
        method: 'POST',
        path: '/live',
        body: { queries: this.#requests(this.#known) },
        headers: { Accept: 'text/event-stream' },
        signal: controller.signal,
      })
      // Such as the page of a proxy, or of the sign-in of a network.
      if (!response.headers.get('Content-Type')?.includes('event-stream')) throw requestError(response)
      for await (const message of messagesOf(response.body as ReadableStream<Uint8Array>, beat)) {
        if (message.event === 'restart') return
        this.#receive(message)
      }
    } finally {
      this.#stream = undefined
      controller.abort()
      clearTimeout(timer)
    }
  }

  /** Adds the queries that the stream does not have, and removes those that are closed. */
  async #change(): Promise<void> {
    const controller = this.#controller
    if (this.#changing || !controller) return
    this.#changing = true
    try {
      for (;;) {
        const stream = this.#stream
        const { openedAt } = this.#writes
        const added = [...this.#queries.keys()].filter((name) => !this.#known.has(name))
        const remove = [...this.#known].filter((name) => !this.#queries.has(name))
        const asked = this.#writes.toAsk()
        if (!stream || !(added.length + remove.length + asked.length)) return
        this.#known = new Set(this.#queries.keys())
        const body = {
          stream,
          add: this.#requests(added),
          remove,
          operations: asked.map(({ token }) => token as string),
        }
        try {
          await this.#http.send({ method: 'POST', path: '/live', body, signal: controller.signal })
          for (const write of asked) write.askedAt = openedAt
        } catch (error) {
          // What else the refused request contained is sent again.
          if (!this.#failQuery(error)) throw error
          for (const name of added) this.#known.delete(name)
          for (const name of remove) this.#known.add(name)
        }
      }
    } catch {
      // The stream is of another process or has ended, or the service cannot be reached.
      controller.abort()
    } finally {
      this.#changing = false
    }
  }

  /** Those of whose rows the keys have no place in the request are read anew. */
  #requests(names: Iterable<string>): JsonObject {
    let left = this.#maxHeld
    const requests: Record<string, JsonObject> = {}
    for (const name of names) {
      const { model, query, held, retry } = this.#queries.get(name) as LiveQuery
      clearTimeout(retry)
      left -= JSON.stringify(held).length
      requests[name] = { model, ...query, ...(left > 0 && held) }
    }
    return requests
  }

  #receive({ event, id, data }: Message): void {
    const query = this.#queries.get(data.query as string)
    if (query && event === 'failed') this.#fail(query, data)
    else if (event === 'open') {
      this.#stream = data.stream as string
      this.#writes.openedAt = ++this.#writes.time
      this.#catchUp()
      this.onOpen()
      void this.#change()
    } else if (event === 'seen') {
      for (const one of this.#queries.values()) if (one.status === 'live') one.position = id ?? one.position
    } else if (query) {
      this.#backoff.failures = 0
      if (event === 'reset') query.refresh('catching-up')
      else query.receive(data)
    }
    // Also with the difference of a query that was closed meanwhile.
    this.#writes.pass((data.operations ?? []) as readonly string[])
    if (query && !/reset|failed/.test(event)) query.setCurrent(id)
  }

  /** The service has removed a query. One that failed for the moment counts as one that the stream has, until it is added again. */
  #fail(query: LiveQuery, { error, retryAfter = 0 }: JsonObject): void {
    const problem = error as JsonObject
    const failure = new RequestError(problem.status as number, problem, retryAfter as number)
    query.refresh('offline', failure)
    if (retryAfter || failure.status === 503)
      query.retry = setTimeout(() => {
        this.#known.delete(query.name)
        this.update()
      }, this.#backoff.next(failure))
    else {
      this.remove(query)
      query.fail(failure)
    }
  }

  /** The query of which an error is the refusal, if it is; it is then ended. */
  #failQuery(error: unknown): LiveQuery | undefined {
    const query = this.#queries.get((error as RequestError)?.problem?.query as string)
    if (query) {
      this.remove(query)
      query.fail(error as RequestError)
    }
    return query
  }

  #catchUp(): void {
    for (const query of this.#queries.values()) query.refresh('catching-up')
  }
}
