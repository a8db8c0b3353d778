import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createService } from '../src/index.ts'
import { Child, reportToParent, type Usage } from './child.ts'
import { chosenDatabases, postgresUrl } from './chosen.ts'
import { freePort } from './free-port.ts'
import { median } from './measure.ts'
import { inPostgres } from './prepare.ts'
import { print } from './print.ts'

/*
 * What 100 clients wait for that ask for one list at once, after a record has changed: a scan, and a page with an association.
 * Beside it the same service with `cache: false`, which reads the list for each of them. Each is a process of its own; elapsed
 * time until the last answer, and the server's processor time.
 *
 *   node bench/together.ts [ROUNDS]
 */

const clients = 100
const rows = 100_000
const warmUpRounds = 5
const text = { type: 'string' } as const
const models = {
  owner: { attributes: { name: text, pets: { collection: 'pet', via: 'owner' } } },
  pet: { attributes: { name: text, note: text, owner: { model: 'owner' } } },
} as const
const lists = {
  'a list that scans': '/pet?sort=note&limit=30&populate=false',
  'a populated page': '/owner?limit=30&populate=pets',
}
const numbers = (count: number) =>
  `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count}) select i from n`
const fill = `insert into owner (name) select 'owner ' || i from (${numbers(rows / 10)}) t;
  insert into pet (name, note, owner) select 'pet ' || i, 'note ' || i % 1000, 1 + i % ${rows / 10} from (${numbers(rows)}) t;
  analyze`

async function serve(database: string, port: number, shares: boolean): Promise<void> {
  const attributes = { createdAt: false, updatedAt: false } as const
  const service = await createService({ models, attributes, database, ...(!shares && { cache: false }) })
  await service.listen(port, '127.0.0.1')
  reportToParent(() => service.close())
}

async function compare(rounds: number): Promise<void> {
  for (const kind of chosenDatabases('all')) await (kind === 'sqlite' ? onSqlite(rounds) : onPostgres(rounds))
}

async function onSqlite(rounds: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-together-'))
  const path = join(folder, 'pets.db')
  await compareOn(`sqlite:${path}`, rounds, async () => {
    using sql = new DatabaseSync(path)
    sql.exec(fill)
  })
  rmSync(folder, { recursive: true })
}

async function onPostgres(rounds: number): Promise<void> {
  const server = postgresUrl as string
  const name = `keelson_together_${process.pid}`
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href
  await inPostgres(server, async (admin) => void (await admin.query(`create database ${name}`)))
  try {
    await compareOn(url, rounds, () => inPostgres(url, async (client) => void (await client.query(fill))))
  } finally {
    await inPostgres(server, async (admin) => void (await admin.query(`drop database ${name} with (force)`)))
  }
}

async function compareOn(database: string, rounds: number, fill: () => Promise<void>): Promise<void> {
  await using shares = await Server.start('shares', database)
  await fill()
  await using each = await Server.start('reads each', database)
  const title = `${database.split(':', 1)[0]}: ${clients} clients at once; medians of ${rounds}`
  print(`\n${title}, with shared reads / with \`cache: false\``)
  for (const [name, path] of Object.entries(lists)) {
    const costs = new Map<Server, Cost[]>([shares, each].map((server) => [server, []]))
    for (let round = -warmUpRounds; round < rounds; round++)
      for (const [server, of] of costs) {
        const cost = await server.measure(path)
        if (round >= 0) of.push(cost)
      }
    const medians = (what: keyof Cost): string =>
      [...costs.values()]
        .map((of) =>
          median(of.map((cost) => cost[what]))
            .toFixed(1)
            .padStart(8),
        )
        .join(' / ')
    print(`${name.padEnd(20)} ${medians('ms')} ms   processor ${medians('cpuMs')} ms`)
  }
}

interface Cost {
  readonly ms: number
  readonly cpuMs: number
}

class Server implements AsyncDisposable {
  readonly #child: Child
  readonly #url: string

  private constructor(child: Child, url: string) {
    this.#child = child
    this.#url = url
  }

  static async start(how: string, database: string): Promise<Server> {
    const port = await freePort()
    const child = await Child.start(undefined, [], import.meta.filename, [how, database, String(port)])
    return new Server(child, `http://127.0.0.1:${port}`)
  }

  async measure(path: string): Promise<Cost> {
    // Ends what is kept.
    for (const changed of ['/owner/1', '/pet/1'])
      await this.#ask(changed, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: `changed at ${performance.now()}` }),
      })
    const [cpuBefore, begin] = [await this.#cpuMs(), performance.now()]
    await Promise.all(Array.from({ length: clients }, () => this.#ask(path)))
    const ms = performance.now() - begin
    return { ms, cpuMs: (await this.#cpuMs()) - cpuBefore }
  }

  async #cpuMs(): Promise<number> {
    return ((await this.#child.ask('usage')) as Usage).cpuMs
  }

  async #ask(path: string, init?: RequestInit): Promise<void> {
    const response = await fetch(`${this.#url}${path}`, init)
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`${path}: ${response.status}`)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#child[Symbol.asyncDispose]()
  }
}

const [how, database, port] = process.argv.slice(2)
if (how === 'shares' || how === 'reads each') await serve(database as string, Number(port), how === 'shares')
else await compare(Number(how ?? 15))
