import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { cases } from '../cases.ts'
import { chosenDatabases, chosenNames, postgresUrl } from '../chosen.ts'
import { fail } from '../print.ts'
import { listeners } from './listeners.ts'
import { reads } from './reads.ts'

const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    database: { type: 'string', default: 'all' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '48' },
    /** Names of cases, or `listeners`, with commas between them. */
    only: { type: 'string' },
    /** A folder for CPU profiles of both servers. */
    profile: { type: 'string' },
  },
})
const [rounds, seconds, connections] = [options.rounds, options.seconds, options.connections].map(Number) as [
  number,
  number,
  number,
]
if (!(rounds > 0 && seconds > 0 && connections > 0)) fail('--rounds, --seconds and --connections take a number above 0')
const known = [...cases.filter(({ writes }) => !writes).map(({ name }) => name), 'listeners']
const only = chosenNames(options.only, known)
const kinds = chosenDatabases(options.database)

if (only.join() !== 'listeners')
  for (const kind of kinds)
    await reads(kind, { rounds, seconds, connections, postgresUrl, profile: options.profile, only })
if (only.includes('listeners') && kinds.includes('sqlite')) {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-'))
  try {
    await listeners(`sqlite:${join(folder, 'listeners.db')}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
