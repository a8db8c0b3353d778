import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { type BenchRequest, cases, requestsOf } from '../cases.ts'
import { Child } from '../child.ts'
import { inRounds, median, type Samples, samplesOf } from '../measure.ts'
import { preparePostgres } from '../prepare.ts'
import { fail, print, printRow } from '../print.ts'
import { loadCpu, type Started, startServer } from '../server.ts'
import { type Form, feathersForm, remultForm, unchanged } from './forms.ts'

/*
 * Keelson beside frameworks that serve records, on one PostgreSQL server and the same data. What each of them does is
 * listed in the README beside this folder.
 */

const peers = {
  'by hand': { file: join('hand-written', 'postgres.ts'), form: unchanged },
  keelson: { file: 'keelson-server.ts', form: unchanged },
  sails: { file: join('peers', 'sails.js'), form: unchanged },
  feathers: { file: join('peers', 'feathers.js'), form: feathersForm },
  remult: { file: join('peers', 'remult.js'), form: remultForm },
} as const satisfies Record<string, { readonly file: string; readonly form: Form }>
type Name = keyof typeof peers
const names = Object.keys(peers) as Name[]

const comparedCases = cases.filter(({ name }) => ['one', 'list', 'filtered', 'update', 'create'].includes(name))

const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '48' },
    rate: { type: 'string', default: '200' },
  },
})
const [rounds, seconds, connections, rate] = (['rounds', 'seconds', 'connections', 'rate'] as const).map((name) =>
  Number(options[name]) > 0 ? Number(options[name]) : fail(`--${name} takes a number above 0`),
) as [number, number, number, number]

const serverUrl = process.env.KEELSON_TEST_POSTGRES || fail('KEELSON_TEST_POSTGRES names no server')
install()

await using databases = await preparePostgres(serverUrl)
await using copies = new AsyncDisposableStack()
const servers = {} as Record<Name, Started>
for (const name of names) servers[name] = copies.use(await start(name))
for (const { name } of comparedCases) await verify(name)

await using load = await Child.start(loadCpu, [], join(import.meta.dirname, '..', 'load.ts'), [])
print(
  `PostgreSQL, Node ${process.versions.node}, medians of ${rounds} rounds of ${seconds} s, ${connections} connections`,
)
for (const { name, title } of comparedCases) {
  const sample = (peer: Name): Promise<Samples> => {
    const { process, port } = servers[peer]
    const requests = requestsOf(name).map(peers[peer].form)
    return samplesOf(process, load, { port, requests, connections, seconds, rate })
  }
  await inRounds(names, 1, sample) // warm-up
  const samples = await inRounds(names, rounds, sample)
  print('')
  printRow([title, 'per CPU s', '/keelson', 'p50 ms', 'p99 ms', `at ${rate}/s`, 'p99 ms'])
  for (const peer of names) {
    const of = (figure: keyof Samples): number => median(samples.map((taken) => taken[peer][figure]))
    const ratio = median(samples.map((taken) => taken[peer].perCpuSecond / taken.keelson.perCpuSecond))
    printRow([
      `  ${peer}`,
      of('perCpuSecond').toFixed(0),
      ratio.toFixed(2),
      ...[of('p50Ms'), of('p99Ms')].map((ms) => ms.toFixed(1)),
      ...[of('p50AtRateMs'), of('p99AtRateMs')].map((ms) => ms.toFixed(2)),
    ])
  }
}

function install(): void {
  if (existsSync(join(import.meta.dirname, 'node_modules'))) return
  const args = ['install', '--prefix', import.meta.dirname, '--no-audit', '--no-fund', '--no-package-lock']
  const { status } = spawnSync('npm', args, { stdio: 'inherit' })
  if (status !== 0) fail('The peers could not be installed')
}

async function start(name: Name): Promise<Started> {
  const { file } = peers[name]
  if (name === 'keelson') return startServer(file, [databases.urls.keelson])
  const database = `keelson_bench_${process.pid}_${name.replace(' ', '_')}`
  await inPostgres(serverUrl, `drop database if exists ${database} with (force)`)
  await inPostgres(
    serverUrl,
    `create database ${database} template ${new URL(databases.urls.without).pathname.slice(1)}`,
  )
  copies.defer(() => inPostgres(serverUrl, `drop database if exists ${database} with (force)`))
  const url = Object.assign(new URL(serverUrl), { pathname: `/${database}` }).href
  // The driver of the peers returns a bigint as a text.
  if (name !== 'by hand') {
    await inPostgres(url, 'alter table "pet" alter "id" type integer, alter "age" type integer')
    await inPostgres(url, 'vacuum full analyze "pet"')
  }
  return startServer(file, [url])
}

/** All answer with the same pets, or the comparison means nothing. */
async function verify(name: string): Promise<void> {
  const requests = requestsOf(name, undefined, 10)
  for (const request of requests) {
    const expected = essence(await ask('keelson', request))
    for (const peer of names) assert.deepEqual(essence(await ask(peer, request)), expected, `${peer}: ${name}`)
  }
}

async function ask(peer: Name, request: BenchRequest): Promise<unknown> {
  const { method, target, body } = peers[peer].form(request)
  const response = await fetch(`http://127.0.0.1:${servers[peer].port}${target}`, {
    method,
    headers: { connection: 'close', ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body }),
  })
  const text = await response.text()
  assert.ok(response.ok, `${peer}: ${method} ${target} was answered with ${response.status}: ${text}`)
  return JSON.parse(text)
}

/** Records that are sorted by age only may differ in the order of equal ages. */
function essence(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(({ age }) => age)
  const { name, kind, breed, note, age, weight, tags, details, vaccinated } = answer as Record<string, unknown>
  return { name, kind, breed, note, age, weight, tags, details, vaccinated }
}

async function inPostgres(connectionString: string, text: string): Promise<void> {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}
