import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createService } from '../src/index.ts'
import { chosenDatabases, postgresUrl } from './chosen.ts'
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
const text = { type: 'string' } as const
const models = {
  owner: { attributes: { name: text, pets: { collection: 'pet', via: 'owner' } } },
  pet: { attributes: { name: text, note: text, owner: { model: 'owner' } } },
} as const
const asked = {
  'a list that scans': '/pet?sort=note&limit=30&populate=false',
  'a populated page': '/owner?limit=30&populate=pets',
}
const numbers = (count: number) =>
  `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count}) select i from n`
const fill = `insert into owner (name) select 'owner ' || i from (${numbers(rows / 10)}) t;
  insert into pet (name, note, owner) select 'pet ' || i, 'note ' || i % 1000, 1 + i % ${rows / 10} from (${numbers(rows)}) t;
  analyze`

async function serve(database: string, shares: boolean): Promise<void> {
  const attributes = { createdAt: false, updatedAt: false } as const
  const service = await createService({ models, attributes, database, ...(!shares && { cache: false }) })
  const { port } = await service.listen(0, '127.0.0.1')
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.((user + system) / 1000)
  })
  process.on('disconnect', () => process.exit())
  process.send?.(port)
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
  const servers = [await Server.start('shares', database)]
  await fill()
  servers.push(await Server.start('reads each', database))
  print(
    `\n${database.split(':', 1)[0]}: ${clients} clients at once; medians of ${rounds}, with shared reads / with \`cache: false\``,
  )
  for (const [name, path] of Object.entries(asked)) {
    for (let round = -5; round < rounds; round++) for (const server of servers) await server.measure(path, round >= 0)
    const [shares, each] = servers.map((server) => server.medians()) as [Cost, Cost]
    print(
      `${name.padEnd(20)} ${shares.ms.toFixed(1).padStart(8)} / ${each.ms.toFixed(1).padStart(8)} ms   processor ${shares.cpuMs.toFixed(1).padStart(7)} / ${each.cpuMs.toFixed(1).padStart(7)} ms`,
    )
  }
  for (const server of servers) await server.stop()
}

interface Cost {
  readonly ms: number
  readonly cpuMs: number
}

class Server {
  readonly #process: ReturnType<typeof fork>
  readonly #port: number
  readonly #agent = new Agent({ keepAlive: true, maxSockets: clients })
  #costs: Cost[] = []

  private constructor(process: ReturnType<typeof fork>, port: number) {
    this.#process = process
    this.#port = port
  }

  static async start(how: string, database: string): Promise<Server> {
    const process = fork(import.meta.filename, [how, database])
    const [port] = (await once(process, 'message')) as [number]
    return new Server(process, port)
  }

  async measure(path: string, counts: boolean): Promise<void> {
    await this.#ask('PATCH', '/owner/1', JSON.stringify({ name: `owner ${performance.now()}` }))
    await this.#ask('PATCH', '/pet/1', JSON.stringify({ name: `pet ${performance.now()}` }))
    const [cpuBefore, begin] = [await this.#cpuMs(), performance.now()]
    await Promise.all(Array.from({ length: clients }, () => this.#ask('GET', path)))
    const ms = performance.now() - begin
    if (counts) this.#costs.push({ ms, cpuMs: (await this.#cpuMs()) - cpuBefore })
  }

  /** Of what was measured since the last call. */
  medians(): Cost {
    const costs = this.#costs
    this.#costs = []
    return { ms: median(costs.map(({ ms }) => ms)), cpuMs: median(costs.map(({ cpuMs }) => cpuMs)) }
  }

  async stop(): Promise<void> {
    this.#agent.destroy()
    this.#process.disconnect()
    await once(this.#process, 'exit')
  }

  async #cpuMs(): Promise<number> {
    this.#process.send('cpu')
    return ((await once(this.#process, 'message')) as [number])[0]
  }

  #ask(method: string, path: string, body = ''): Promise<void> {
    return new Promise((resolve, reject) => {
      const headers = body === '' ? {} : { 'Content-Type': 'application/json', 'Content-Length': body.length }
      const sent = request(
        { agent: this.#agent, host: '127.0.0.1', port: this.#port, method, path, headers },
        (answer) => {
          answer.resume()
          answer.on('end', () =>
            answer.statusCode === 200 ? resolve() : reject(new Error(`${path}: ${answer.statusCode}`)),
          )
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  }
}

const [how, database] = process.argv.slice(2)
if (how === 'shares' || how === 'reads each') await serve(database as string, how === 'shares')
else await compare(Number(how ?? 15))
