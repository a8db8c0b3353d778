import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { type BenchCase, cases, type Given, requestsOf } from '../cases.ts'
import { Child } from '../child.ts'
import type { DatabaseKind } from '../chosen.ts'
import { deepCursors, listTag } from '../cursors.ts'
import { storedTables } from '../data.ts'
import { inRounds, type MeasureOptions, median, sampleOf } from '../measure.ts'
import { preparePostgres, prepareSqlite } from '../prepare.ts'
import { print, printRow } from '../print.ts'
import { loadCpu, profiling, startServer } from '../server.ts'

const variants = ['without', 'with'] as const
type Variant = (typeof variants)[number]

export interface ReadsOptions extends Omit<MeasureOptions, 'rate' | 'warmUp'> {
  readonly postgresUrl: string | undefined
  readonly profile: string | undefined
  readonly only: readonly string[]
}

/** The read cases on one database, served without rules and with an owner rule on every model that holds for every record. */
export async function reads(kind: DatabaseKind, options: ReadsOptions): Promise<void> {
  const { rounds, seconds, connections, only } = options
  await using databases = await (kind === 'sqlite' ? prepareSqlite() : preparePostgres(options.postgresUrl as string))
  const url = databases.urls.keelson
  const start = (variant: Variant) =>
    startServer(
      join('access', 'server.ts'),
      [url],
      profiling(options.profile, variant),
      variant === 'with' ? ['with-rules'] : [],
    )
  {
    await using _ = await start('without') // adds the column
  }
  await (kind === 'sqlite' ? ownSqlite(url) : ownPostgres(url))
  await using without = await start('without')
  await using withRules = await start('with')
  await using load = await Child.start(loadCpu, [], join(import.meta.dirname, '..', 'load.ts'), [])
  const servers = { without, with: withRules }
  const givenBy = async ({ port }: { readonly port: number }): Promise<Given> => ({
    cursor: (await deepCursors(port)).keelson,
    tag: await listTag(port),
  })
  const given = { without: await givenBy(without), with: await givenBy(withRules) }

  print(`\n${kind}: reads per second of the server’s CPU, medians of ${rounds} rounds`)
  printRow(['case', 'no rules', 'owner rule', '/no rules'])
  for (const known of cases.filter(({ writes }) => !writes)) {
    if (!only.includes(known.name)) continue
    await verify(known, servers, given)
    const sample = (variant: Variant) =>
      sampleOf(servers[variant].process, load, {
        port: servers[variant].port,
        requests: requestsOf(known.name, given[variant]),
        connections,
        seconds,
      })
    await inRounds(variants, 1, sample) // until everything is compiled
    const samples = await inRounds(variants, rounds, sample)
    const rate = (variant: Variant) => median(samples.map((taken) => taken[variant].perCpuSecond)).toFixed(0)
    const ratio = median(samples.map((taken) => taken.with.perCpuSecond / taken.without.perCpuSecond))
    printRow([known.title, rate('without'), rate('with'), ratio.toFixed(2)])
  }
}

const owned = storedTables.map(({ table }) => `update "${table}" set "createdBy" = 1`)

async function ownSqlite(url: string): Promise<void> {
  const database = new DatabaseSync(url.slice('sqlite:'.length))
  database.exec(`begin; ${owned.join('; ')}; commit; analyze; pragma wal_checkpoint(truncate)`)
  database.close()
}

async function ownPostgres(connectionString: string): Promise<void> {
  const client = new Client({ connectionString })
  await client.connect()
  for (const text of [...owned, 'vacuum analyze']) await client.query(text)
  await client.end()
}

/** Both answer with the same records: the rule holds for each. */
async function verify(
  { name }: BenchCase,
  servers: Readonly<Record<Variant, { readonly port: number }>>,
  given: Readonly<Record<Variant, Given>>,
): Promise<void> {
  const answers = await Promise.all(
    variants.map(async (variant) => {
      const [request] = requestsOf(name, given[variant], 1)
      const headers = request?.tag === undefined ? {} : { 'If-None-Match': request.tag }
      return (await fetch(`http://127.0.0.1:${servers[variant].port}${request?.target}`, { headers })).text()
    }),
  )
  if (answers[0] !== answers[1] || answers[0] === '[]') throw new Error(`The answers to ${name} differ, or are empty`)
}
