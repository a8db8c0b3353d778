import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createService, type ModelDefinitions } from '../src/index.ts'

/**
 * Runs the recorded scenarios in the folder that is named against a service of ours, and holds the differences against
 * the table in the docs: a difference without a reason fails, and so does a reason without a difference.
 *
 *   node .ci/recorded.ts FOLDER
 */
const folder = process.argv[2] as string
const { defaults, ...models } = JSON.parse(readFileSync(join(folder, 'models.json'), 'utf8'))
const answers = join(mkdtempSync(join(tmpdir(), 'recorded-')), 'http.json')
const service = await createService({
  database: 'sqlite::memory:',
  models: models as ModelDefinitions,
  attributes: defaults.attributes,
  unknownAttributes: 'ignore',
})
const server = await service.listen(0)

const recorded = promisify(execFile)
await recorded(process.execPath, [join(folder, 'record.mjs'), 'http', answers, '--base', server.url])
await service.close()
const compared = spawnSync(
  process.execPath,
  [join(folder, 'compare.mjs'), join(folder, 'recordings', 'http-1.5.json'), answers, '--lenient'],
  {
    encoding: 'utf8',
  },
).stdout
const differing = new Set([...compared.matchAll(/^! (\S+)$/gm)].map(([, name]) => name as string))
const page = readFileSync(new URL('../docs/coming-from-sails.md', import.meta.url), 'utf8')
const explained = new Set([...page.matchAll(/^\| `([a-z0-9]+\/[^`]+)` \|/gm)].map(([, name]) => name as string))
const unexplained = [...differing].filter((name) => !explained.has(name))
const outdated = [...explained].filter((name) => !differing.has(name))
for (const name of unexplained) console.error(`differs without a reason in the docs: ${name}`)
for (const name of outdated) console.error(`explained in the docs and no longer different: ${name}`)
console.log(`${compared.trim().split('\n').at(-1)}; ${explained.size} explained`)
process.exit(unexplained.length + outdated.length === 0 ? 0 : 1)
