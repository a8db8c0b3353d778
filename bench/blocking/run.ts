import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { Child } from '../child.ts'
import { chosenByParts, chosenDatabases, postgresUrl } from '../chosen.ts'
import { freePort } from '../free-port.ts'
import { print } from '../print.ts'
import { movePostgres } from './apart.ts'
import type { Attack } from './attacker.ts'
import { fillPostgres, fillSqlite } from './fill.ts'
import { hostileRequests } from './hostile/requests.ts'
import { memory } from './memory.ts'
import { rows } from './models.ts'
import type { Latencies, Probe } from './probe.ts'
import { hostileNice, measuringNice, scheduled } from './scheduled.ts'
import type { LongestTurn, Period } from './turns.ts'

const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    database: { type: 'string', default: 'all' },
    seconds: { type: 'string', default: '4' },
    /** Hostile requests that are sent at a time. */
    concurrency: { type: 'string', default: '8' },
    /** Only the hostile requests whose name contains this, or one of these with semicolons between them. */
    only: { type: 'string', default: '' },
    /** Memory over many requests, instead of latencies. */
    memory: { type: 'boolean', default: false },
    /** Hostile clients and PostgreSQL have one processor, the last, and the service has all. */
    apart: { type: 'boolean', default: false },
    /** Stops the service for so many milliseconds, again and again: what clients send meanwhile arrives in one turn. */
    stops: { type: 'string', default: '0' },
    /** Prints the functions of the longest turn, and of the read with the most processor time, above this many milliseconds. */
    stacks: { type: 'string' },
  },
})
const seconds = Number(options.seconds)
const concurrency = Number(options.concurrency)
const stopsMs = Number(options.stops)
const stacksMs = options.stacks === undefined ? undefined : Number(options.stacks)
const chosen = chosenByParts(options.only, hostileRequests)

/** Of the first column, whose names may be sentences. */
const nameWidth = Math.max(...chosen.map(({ name }) => name.length), 'quiet'.length)

const titles = ['worst ms', 'wait ms', 'stolen', 'p99 ms', 'cpu ms', 'turn ms', 'reads']

/** By how much the worst latency may exceed that without hostile requests. */
const aimMs = 50

/**
 * How often a kind of request is measured whose worst latency is above the aim; the median counts. The worst of a thousand reads
 * also contains single interruptions by other programs of the machine and of its host.
 */
const maxRuns = 3

const stopEveryMs = 300

/** The record that is read; it is not among those that hostile requests change. */
const path = `/pet/${rows.pet}?populate=false`

for (const kind of chosenDatabases(options.database))
  await (kind === 'sqlite' ? onSqlite() : onPostgres(postgresUrl as string))

async function onSqlite(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-blocking-'))
  try {
    const file = join(folder, 'app.db')
    await createTables(`sqlite:${file}`)
    fillSqlite(file)
    await measure('sqlite', `sqlite:${file}`, async () => false)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function onPostgres(server: string): Promise<void> {
  const name = `keelson_blocking_${process.pid}`
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href
  const admin = new Client({ connectionString: server })
  await admin.connect()
  try {
    await admin.query(`create database ${name}`)
    await createTables(url)
    await fillPostgres(url)
    using _ = options.apart ? await movePostgres(admin) : undefined
    const running = `select 1 from pg_stat_activity where datname = $1 and state <> 'idle'`
    await measure('postgres', url, async () => (await admin.query(running, [name])).rows.length > 0)
  } finally {
    await admin.query(`drop database if exists ${name} with (force)`)
    await admin.end()
  }
}

/** Services and clients each have a session of their own, as programs of a machine or several have. */
function start(file: string, args: readonly string[], nodeOptions: readonly string[] = []): Promise<Child> {
  return Child.start(undefined, nodeOptions, join(import.meta.dirname, file), args, { ownSession: true })
}

async function createTables(url: string): Promise<void> {
  await using _ = await start('server.ts', [url])
}

async function measure(kind: string, url: string, isDatabaseBusy: () => Promise<boolean>): Promise<void> {
  const [port, ruledPort] = [await freePort(), await freePort()]
  const args = [url, String(port), String(ruledPort), ...(stacksMs === undefined ? [] : ['stacks'])]
  await using server = await start('server.ts', args, options.memory ? ['--expose-gc'] : [])
  if (options.memory) return await memory(kind, server, port)
  const pid = (await server.ask('pid')) as number
  await using client = await start('probe.ts', [JSON.stringify({ port, path, pid } satisfies Probe)])
  const probe = async (seconds: number) => {
    using _ = stopsMs > 0 ? stopRegularly(pid) : undefined
    return (await client.ask(seconds)) as Latencies
  }
  await probe(1) // warm-up
  const { headers } = await fetch(`http://127.0.0.1:${port}${path}`)
  const target = { port, ruledPort, pid, position: headers.get('keelson-position') ?? '', probe, isDatabaseBusy }
  const longestTurn = (during: Period | 'longest turn' = 'longest turn') => server.ask(during) as Promise<LongestTurn>
  await longestTurn()
  const quiet = await probe(seconds)
  print(`\n${kind}: GET ${path} beside ${concurrency} hostile requests at a time, ${seconds} s each`)
  if (await client.ask('has priority'))
    print(`nice values, of sessions: measuring client ${measuringNice}, hostile client ${hostileNice}`)
  else print('The measuring client has no priority over others')
  if (stopsMs > 0) print(`The service is stopped for ${stopsMs} ms every ${stopEveryMs}`)
  if (options.apart) print('apart: hostile clients and PostgreSQL have one processor, the last')
  print(`${''.padEnd(nameWidth)}${titles.map((title) => title.padStart(9)).join('')}`)
  printLine('quiet', quiet, (await longestTurn()).ms, '')
  const above: string[] = []
  for (const { name } of chosen) {
    const runs = [await measureBeside(name)]
    while (runs.length < maxRuns && exceedsAim(runs[0] as Latencies)) runs.push(await measureBeside(name))
    const [worstMs, worstCpuMs] = [medianOf(runs, 'worstMs'), medianOf(runs, 'worstCpuMs')]
    if (exceedsAim({ worstMs, worstCpuMs }))
      above.push(`${name.padEnd(nameWidth)}${[worstMs, worstCpuMs].map((ms) => ms.toFixed(1).padStart(9)).join('')}`)
  }
  print(`\n${kind}: ${above.length} of ${chosen.length} kinds above the aim in the median of ${maxRuns} runs`)
  for (const line of above) print(line)

  async function measureBeside(name: string): Promise<Latencies> {
    const { latencies, statuses } = await beside(name, target)
    const { ms, stack, during } = await longestTurn({ from: latencies.worstCpuFrom, to: latencies.worstCpuTo })
    printLine(name, latencies, ms, `${statuses}${exceedsAim(latencies) ? '  above the aim' : ''}`)
    if (stacksMs === undefined) return latencies
    if (ms > stacksMs) for (const line of ['the longest turn', ...stack]) print(`    ${line}`)
    if (latencies.worstCpuMs > stacksMs) for (const line of ['the worst read', ...during]) print(`    ${line}`)
    return latencies
  }

  function exceedsAim({ worstMs, worstCpuMs }: Pick<Latencies, 'worstMs' | 'worstCpuMs'>): boolean {
    return worstMs > quiet.worstMs + aimMs || worstCpuMs > quiet.worstCpuMs + aimMs
  }
}

/** As another program of the machine may. */
function stopRegularly(pid: number): Disposable {
  let timer: NodeJS.Timeout
  const stop = (): void => {
    process.kill(pid, 'SIGSTOP')
    timer = setTimeout(go, stopsMs)
  }
  const go = (): void => {
    process.kill(pid, 'SIGCONT')
    timer = setTimeout(stop, stopEveryMs - stopsMs)
  }
  stop()
  return {
    [Symbol.dispose]: () => {
      clearTimeout(timer)
      process.kill(pid, 'SIGCONT')
    },
  }
}

function medianOf(runs: readonly Latencies[], name: 'worstMs' | 'worstCpuMs'): number {
  return runs.map((run) => run[name]).toSorted((a, b) => a - b)[runs.length >> 1] as number
}

interface Target {
  readonly port: number
  readonly ruledPort: number
  readonly pid: number
  /** The position of the change log before anything was written. */
  readonly position: string
  readonly probe: (seconds: number) => Promise<Latencies>
  /** Whether the database runs a statement; false for a database in the process of the service. */
  readonly isDatabaseBusy: () => Promise<boolean>
}

async function beside(name: string, target: Target): Promise<{ latencies: Latencies; statuses: string }> {
  const { port, ruledPort, position, probe } = target
  const attack: Attack = { name, port, ruledPort, position, concurrency, isApart: options.apart }
  try {
    await using attacker = await start('attacker.ts', [JSON.stringify(attack)])
    const latencies = await probe(seconds)
    const counts = (await attacker.ask('statuses')) as [number, number][]
    return { latencies, statuses: counts.map(([status, count]) => `${count} × ${status}`).join(', ') }
  } finally {
    await calm(target)
  }
}

/** Waits until the last requests have ended, so that they do not disturb the measurement of the next kind. */
async function calm({ pid, isDatabaseBusy }: Target): Promise<void> {
  const giveUpAt = performance.now() + 20_000
  for (let last = scheduled(pid)?.cpuMs ?? 0; performance.now() < giveUpAt; ) {
    await new Promise((resolve) => setTimeout(resolve, 300))
    const now = scheduled(pid)?.cpuMs ?? 0
    if (now - last < 30 && !(await isDatabaseBusy())) return
    last = now
  }
}

function printLine(name: string, latencies: Latencies, turnMs: number, remark: string): void {
  const { worstMs, worstWaitMs, worstStolenMs, p99Ms, worstCpuMs, count } = latencies
  const figures = [worstMs, worstWaitMs, worstStolenMs, p99Ms, worstCpuMs, turnMs]
    .map((ms) => ms.toFixed(1).padStart(9))
    .join('')
  print(`${name.padEnd(nameWidth)}${figures}${String(count).padStart(9)}  ${remark}`)
}
