import { parseArgs } from 'node:util'
import { chosenNames, postgresUrl } from './chosen.ts'
import { delivery } from './live/delivery.ts'
import { fanOut } from './live/fan-out.ts'
import { memory } from './live/memory.ts'
import type { LivePart } from './live/part.ts'
import { unsubscribed } from './live/unsubscribed.ts'
import { preparePostgres, prepareSqlite } from './prepare.ts'
import { fail } from './print.ts'
import { profiling } from './server.ts'

const parts = [fanOut, memory, unsubscribed, delivery]

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '1' },
    /** Names of parts with commas between them. */
    only: { type: 'string' },
    /** A folder for CPU profiles of all servers. */
    profile: { type: 'string' },
  },
})
const [rounds, seconds] = [Number(options.rounds), Number(options.seconds)]
if (!(rounds > 0 && seconds > 0)) fail('--rounds and --seconds take a number above 0')
const names = chosenNames(
  options.only,
  parts.map(({ name }) => name),
)

for (const part of parts) if (names.includes(part.name)) await run(part)

async function run(part: LivePart): Promise<void> {
  await using databases = new AsyncDisposableStack()
  const server = postgresUrl
  await part.run({
    rounds,
    seconds,
    sqliteUrl: async () => databases.use(await prepareSqlite()).urls.keelson,
    postgresUrl:
      server === undefined ? undefined : async () => databases.use(await preparePostgres(server)).urls.keelson,
    profile: (name) => profiling(options.profile, name),
  })
}
