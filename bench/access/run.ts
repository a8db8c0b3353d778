import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
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
const only = options.only?.split(',')
const postgresUrl = process.env.KEELSON_TEST_POSTGRES || undefined
if (options.database === 'postgres' && !postgresUrl) fail('KEELSON_TEST_POSTGRES names the PostgreSQL server')

for (const kind of ['sqlite', 'postgres'] as const) {
  if (options.database !== 'all' && options.database !== kind) continue
  if (kind === 'postgres' && !postgresUrl) continue
  if (only?.join() !== 'listeners')
    await reads(kind, { rounds, seconds, connections, postgresUrl, profile: options.profile, only })
}
if ((!only || only.includes('listeners')) && options.database !== 'postgres') {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-'))
  try {
    await listeners(`sqlite:${join(folder, 'listeners.db')}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
