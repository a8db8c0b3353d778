import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { cases } from './cases.ts'
import { Child } from './child.ts'
import { chosenDatabases, chosenNames, type DatabaseKind, postgresUrl } from './chosen.ts'
import { deepCursors, listTag } from './cursors.ts'
import { type Figures, type MeasureOptions, measure, type Servers } from './measure.ts'
import { preparePostgres, prepareSqlite, type Variant } from './prepare.ts'
import { fail, print, printRow } from './print.ts'
import { loadCpu, profiling, type Started, startServer } from './server.ts'
import { verify } from './verify.ts'

for (const part of ['blocking', 'access', 'peers']) {
  if (!process.argv.includes(part)) continue
  await import(`./${part}/run.ts`)
  process.exit()
}

const { values: options } = parseArgs({
  options: {
    database: { type: 'string', default: 'all' },
    rounds: { type: 'string', default: '7' },
    'warm-up': { type: 'string', default: '4' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '48' },
    /** Requests per second when latencies are measured at a fixed rate. */
    rate: { type: 'string', default: '500' },
    /** Names of cases with commas between them. */
    only: { type: 'string' },
    /** Keelson reads and encodes each list, also when the same list is requested again. */
    'without-kept-answers': { type: 'boolean', default: false },
    /** On PostgreSQL, Keelson answers from a cache that is at most a second old. */
    'max-stale': { type: 'boolean', default: false },
    /** On SQLite, the servers by hand answer writes before they reach the disk, and commit each of them alone. */
    'by-hand-not-durable': { type: 'boolean', default: false },
    /** With `by-hand-not-durable`: all writes of a turn of the event loop share a commit, as in the durable servers. */
    'by-hand-grouped': { type: 'boolean', default: false },
    /** On PostgreSQL, Keelson is the only writer, and answers from its cache. */
    'writers-self': { type: 'boolean', default: false },
    /** A folder for CPU profiles of all servers. */
    profile: { type: 'string' },
  },
})

const names = chosenNames(
  options.only,
  cases.map(({ name }) => name),
)
const kinds = chosenDatabases(options.database)
const measured: MeasureOptions = {
  rounds: count('rounds'),
  warmUp: count('warm-up'),
  seconds: count('seconds'),
  connections: count('connections'),
  rate: count('rate'),
}

await using load = await Child.start(loadCpu, [], join(import.meta.dirname, 'load.ts'), [])
for (const kind of kinds) await run(kind)

async function run(kind: DatabaseKind): Promise<void> {
  await using databases = await (kind === 'sqlite' ? prepareSqlite() : preparePostgres(postgresUrl as string))
  const { urls } = databases
  const byHand = join('hand-written', `${kind}.ts`)
  await using without = await start(byHand, urls.without, 'without')
  await using withTriggers = await start(byHand, urls.with, 'with')
  await using keelson = await start('keelson-server.ts', urls.keelson, 'keelson')
  const cursors = await deepCursors(keelson.port)
  const tag = await listTag(keelson.port)
  const servers: Servers = {
    without: { ...without, given: { cursor: cursors.byHand, tag } },
    with: { ...withTriggers, given: { cursor: cursors.byHand, tag } },
    keelson: { ...keelson, given: { cursor: cursors.keelson, tag } },
  }

  const different = await verify(Object.values(servers), names)
  print(
    `\n${kind}, Node ${process.versions.node}: requests per second of the server’s CPU, medians of ${measured.rounds} rounds`,
  )
  if (different.length > 0) print(`(equal as JSON, not to the byte: ${different.join(', ')})`)
  printRow([
    'case',
    'by hand',
    '+triggers',
    'keelson',
    '/triggers',
    '/by hand',
    'p50 ms',
    'by hand',
    'p99 ms',
    'by hand',
    `at ${measured.rate}/s`,
    'by hand',
    'p99 ms',
    'by hand',
  ])
  for (const known of cases.filter(({ name }) => names.includes(name))) {
    printRow([known.title, ...cells(await measure(known, servers, load, measured))])
  }
}

function start(file: string, url: string, variant: Variant): Promise<Started> {
  const more =
    variant === 'keelson'
      ? (['without-kept-answers', 'max-stale', 'writers-self'] as const).filter((name) => options[name])
      : (['by-hand-not-durable', 'by-hand-grouped'] as const).filter((name) => options[name])
  return startServer(file, [url], profiling(options.profile, variant), more)
}

function cells({ perCpuSecond, ratio, ...times }: Figures): readonly string[] {
  const rate = (variant: Variant): string => Math.round(perCpuSecond[variant]).toString()
  return [
    rate('without'),
    rate('with'),
    rate('keelson'),
    ratio.with.toFixed(2),
    ratio.without.toFixed(2),
    ...[times.p50Ms, times.p99Ms].flatMap(({ keelson, with: byHand }) => [keelson.toFixed(1), byHand.toFixed(1)]),
    ...[times.p50AtRateMs, times.p99AtRateMs].flatMap(({ keelson, with: byHand }) => [
      keelson.toFixed(2),
      byHand.toFixed(2),
    ]),
  ]
}

function count(name: 'rounds' | 'warm-up' | 'seconds' | 'connections' | 'rate'): number {
  const number = Number(options[name])
  return number > 0 ? number : fail(`--${name} takes a number above 0`)
}
