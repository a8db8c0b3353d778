import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { createService } from '../../../src/index.ts'
import { freshDatabase } from '../../support/postgres.ts'
import type { SentRequest } from './cost-request.ts'
import { models } from './models.ts'

export interface Cost {
  readonly status: number
  /** The CPU time of the longest turn of the event loop while the request ran. */
  readonly blockedMs: number
  /** The longest latency of `GET /pet/1` meanwhile. */
  readonly othersMs: number
}

/** Live queries that scan wait for each other. They are given up. */
const longestMs = 10_000

/** A service over large tables, and what its other clients notice of a request. */
export class Target implements AsyncDisposable {
  readonly #server: ChildProcess
  readonly #url: string
  readonly #agent = new Agent({ keepAlive: true })

  private constructor(server: ChildProcess, url: string) {
    this.#server = server
    this.#url = url
  }

  static async start(database: string): Promise<Target> {
    const file = fileURLToPath(new URL('server.ts', import.meta.url))
    const server = fork(file, [database], { execArgv: ['--conditions=keelson-source'] })
    const [{ url }] = (await once(server, 'message')) as [{ url: string }]
    const target = new Target(server, url)
    for (let count = 0; count < 20; count++) await target.#get('/pet/1')
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
      await this.#get('/pet/1')
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

const text = "'abc ' || (n % 1000) || ' e e e ' || (n * 7919 % 10007)"
const fill = (rows: number, numbers: (count: number) => string): readonly string[] => [
  `insert into owner (id, name, city) select n, 'owner ' || n, 'city ' || (n % 100) from ${numbers(rows / 10)}`,
  `insert into pet (id, name, kind, age, weight, note, owner) select n, 'pet ' || n, 'kind ' || (n % 7), n % 20, n % 37 * 1.5, ${text}, 1 + n % ${rows / 10} from ${numbers(rows)}`,
  `insert into visit (id, status, cost, pet) select n, 'status ' || (n % 5), n % 500, 1 + n % ${rows} from ${numbers(rows * 1.5)}`,
  `insert into tag (id, label) select n, 'tag ' || n from ${numbers(100)}`,
]

/** Creates the tables and fills them without the service. */
export async function fillSqlite(path: string, rows: number): Promise<void> {
  await createTables(`sqlite:${path}`)
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(path)
  const numbers = (count: number) =>
    `(with recursive s(n) as (select 1 union all select n + 1 from s where n < ${count}) select n from s)`
  database.exec(['begin', ...fill(rows, numbers), 'delete from keelson_log', 'commit', 'analyze'].join(';'))
  database.close()
}

export async function fillPostgres(server: string, rows: number) {
  const database = await freshDatabase(server)
  await createTables(database.url)
  const numbers = (count: number) => `generate_series(1, ${count}) as n`
  for (const statement of [...fill(rows, numbers), 'truncate keelson_log', 'analyze']) await database.query(statement)
  return database
}

async function createTables(database: string): Promise<void> {
  const attributes = { createdAt: false, updatedAt: false } as const
  const service = await createService({ models, database, attributes })
  await service.close()
}
