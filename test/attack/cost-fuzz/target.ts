import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { createService, type ModelDefinitions } from '../../../src/index.ts'
import { freshDatabase } from '../../support/postgres.ts'
import type { SentRequest } from './cost-request.ts'
import type { World } from './world.ts'

export interface Cost {
  readonly status: number
  /** The CPU time of the longest turn of the event loop while the request ran. */
  readonly blockedMs: number
  /** The longest latency of a read of one record meanwhile. */
  readonly othersMs: number
}

/** Live queries that scan wait for each other. They are given up. */
const longestMs = 10_000

/** A service over large tables, and what its other clients notice of a request. */
export class Target implements AsyncDisposable {
  readonly #server: ChildProcess
  readonly #url: string
  /** The address of the record that others read. */
  readonly #probe: string
  readonly #agent = new Agent({ keepAlive: true })

  private constructor(server: ChildProcess, url: string, { main, shapes }: World) {
    this.#server = server
    this.#url = url
    this.#probe = `/${main}/${shapes[main]?.key(1)}`
  }

  static async start(database: string, world: World): Promise<Target> {
    const file = fileURLToPath(new URL('server.ts', import.meta.url))
    const server = fork(file, [database, JSON.stringify(world.models)], { execArgv: ['--conditions=keelson-source'] })
    const [{ url }] = (await once(server, 'message')) as [{ url: string }]
    const target = new Target(server, url, world)
    for (let count = 0; count < 20; count++) await target.#get(target.#probe)
    return target
  }

  async cost(sent: SentRequest): Promise<Cost> {
    const address = sent.isNextPage ? await this.#nextPage(sent.address) : sent.address
    await this.#longestTurnMs()
    let isDone = false
    const status = this.#send({ ...sent, address }).finally(() => {
      isDone = true
    })
    let othersMs = 0
    while (!isDone) {
      const sentAt = performance.now()
      await this.#get(this.#probe)
      othersMs = Math.max(othersMs, performance.now() - sentAt)
    }
    return { status: await status, othersMs, blockedMs: await this.#longestTurnMs() }
  }

  async #longestTurnMs(): Promise<number> {
    this.#server.send('longest turn')
    const [{ longestTurnMs }] = (await once(this.#server, 'message')) as [{ longestTurnMs: number }]
    return longestTurnMs
  }

  #get(address: string): Promise<number> {
    return this.#send({ method: 'GET', address })
  }

  /** The same page where it is the last one. */
  async #nextPage(address: string): Promise<string> {
    let link: string | undefined
    await this.#send({ method: 'GET', address }, ({ headers }) => {
      link = /^<([^>]*)>/.exec(String(headers.link))?.[1]
    })
    return link ?? address
  }

  #send({ method, address, body, queries }: SentRequest, onResponse?: (response: IncomingMessage) => void) {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers =
      text === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }
    return new Promise<number>((resolve, reject) => {
      const sent = request(new URL(address, this.#url), { agent: this.#agent, method, headers }, (response) => {
        onResponse?.(response)
        let rows = 0
        response.setEncoding('latin1').on('data', (chunk: string) => {
          rows += chunk.split('event: rows').length - 1
          if (queries !== undefined && rows >= queries) response.destroy()
        })
        response.on('error', () => {}).on('close', () => resolve(response.statusCode ?? 0))
      })
      sent.setTimeout(longestMs, () => {
        resolve(0)
        sent.destroy()
      })
      sent.on('error', reject).end(text)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy()
    // It may be within a statement, which only ends with the process.
    this.#server.kill('SIGKILL')
    await once(this.#server, 'exit')
  }
}

/** Creates the tables and fills them without the service. */
export async function fillSqlite(path: string, { models, fill }: World, rows: number): Promise<void> {
  await createTables(`sqlite:${path}`, models)
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(path)
  const numbers = (count: number) =>
    `(with recursive s(n) as (select 1 union all select n + 1 from s where n < ${count}) select n from s)`
  const statements = ['pragma foreign_keys = off', 'begin', ...fill(rows, numbers), 'delete from keelson_log', 'commit']
  database.exec(statements.join(';'))
  database.close()
}

export async function fillPostgres(server: string, { models, fill }: World, rows: number) {
  const database = await freshDatabase(server)
  await createTables(database.url, models)
  const numbers = (count: number) => `generate_series(1, ${count}) as n`
  const unchecked = 'set session_replication_role = replica'
  for (const statement of [unchecked, ...fill(rows, numbers), 'truncate keelson_log', 'analyze'])
    await database.query(statement)
  return database
}

async function createTables(database: string, models: ModelDefinitions): Promise<void> {
  const attributes = { createdAt: false, updatedAt: false } as const
  const service = await createService({ models, database, attributes })
  await service.close()
}
