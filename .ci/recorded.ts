import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createService, type ModelDefinitions } from '../src/index.ts'
import { freshDatabase } from '../test/support/postgres.ts'
import { markModel, recordSockets } from './recorded-sockets.ts'

/**
 * Replays the recorded scenarios of a folder against services of this repository, and checks the differences against
 * the tables in the docs. A difference without a documented reason fails, and so does a reason without a difference.
 *
 *   node .ci/recorded.ts FOLDER [POSTGRES]
 */
const [folder = '.', postgres] = process.argv.slice(2)
const { defaults, ...models } = JSON.parse(readFileSync(join(folder, 'models.json'), 'utf8'))
const answers = mkdtempSync(join(tmpdir(), 'recorded-'))

interface Part {
  readonly name: string
  readonly database: string
  readonly models: object
  /** The file with the recorded answers of Sails. */
  readonly recording: string
  /** The page of the docs that gives the reason of each difference. */
  readonly page: string
  /** Replays the recording against `url` and writes the answers to `file`. */
  readonly record: (url: string, file: string) => Promise<unknown>
}

const run = promisify(execFile)
const http = {
  models,
  recording: 'http-1.5.json',
  page: 'coming-from-sails.md',
  record: (url: string, file: string) =>
    run(process.execPath, [join(folder, 'record.mjs'), 'http', file, '--base', url]),
}
const sockets = {
  models: { ...models, ...markModel },
  recording: 'socket-1.5.json',
  page: 'socket-differences.md',
  record: (url: string, file: string) => recordSockets(folder, url, file),
}

let isExplained = await check({ ...http, name: 'HTTP on SQLite', database: 'sqlite::memory:' })
isExplained = (await check({ ...sockets, name: 'sockets on SQLite', database: 'sqlite::memory:' })) && isExplained
if (postgres === undefined) {
  console.log('sockets on PostgreSQL: not run, there is no server')
} else {
  await using fresh = await freshDatabase(postgres)
  isExplained = (await check({ ...sockets, name: 'sockets on PostgreSQL', database: fresh.url })) && isExplained
}
process.exit(isExplained ? 0 : 1)

async function check({ name, database, models, recording, page, record }: Part): Promise<boolean> {
  const file = join(answers, `${name}.json`)
  const service = await createService({
    database,
    models: models as ModelDefinitions,
    attributes: defaults.attributes,
    unknownAttributes: 'ignore',
    // A socket of Sails receives no events of its own changes.
    sockets: { mirror: false },
  })
  await record((await service.listen(0)).url, file)
  await service.close()
  const compare = [join(folder, 'compare.mjs'), join(folder, 'recordings', recording), file, '--lenient']
  const { stdout } = spawnSync(process.execPath, compare, { encoding: 'utf8' })
  const differing = scenariosIn(stdout, /^[!~] ([^\s:]+)/gm) // includes scenarios that only one side has
  const text = readFileSync(new URL(`../docs/${page}`, import.meta.url), 'utf8')
  const explained = scenariosIn(text, /^\| `([a-z0-9]+\/[^`]+)` \|/gm)
  const unexplained = [...differing].filter((scenario) => !explained.has(scenario))
  const outdated = [...explained].filter((scenario) => !differing.has(scenario))
  for (const scenario of unexplained) console.error(`differs without a reason in docs/${page}: ${scenario}`)
  for (const scenario of outdated) console.error(`explained in docs/${page} and no longer different: ${scenario}`)
  console.log(`${name}: ${stdout.trim().split('\n').at(-1)}; ${explained.size} explained`)
  return unexplained.length + outdated.length === 0
}

function scenariosIn(text: string, pattern: RegExp): ReadonlySet<string> {
  return new Set([...text.matchAll(pattern)].map(([, scenario]) => scenario as string))
}
