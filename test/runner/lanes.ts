import { availableParallelism } from 'node:os'
import { startPostgres } from '../support/embedded-postgres.ts'

/**
 * One of several sequences of test files that run at the same time. Each lane has a PostgreSQL server of its own:
 * snapshots and locks concern a whole server, so a transaction that one test holds open would prevent another test's
 * log from being trimmed.
 */
export interface Lane {
  /** For `KEELSON_TEST_POSTGRES` of the files of this lane. */
  readonly postgres: string
  stop(): void
}

export interface Lanes {
  readonly lanes: readonly Lane[]
  /** For the summary: the server, or why there is none. */
  readonly postgres: { readonly name: string } | { readonly missing: string }
}

/** More lanes than cores, because many tests wait for timers; each lane costs a server. */
const defaultLanes = Math.min(availableParallelism() + 1, 5)

/** As many lanes as are useful for this number of files. */
export async function openLanes(files: number): Promise<Lanes> {
  const count = Math.min(files, Number(process.env.KEELSON_TEST_LANES ?? defaultLanes))
  const given = process.env.KEELSON_TEST_POSTGRES
  if (given === 'none') return without(count, 'KEELSON_TEST_POSTGRES is "none"')
  if (given) {
    // A single server, hence a single lane.
    const name = `the server at ${new URL(given).host}, from KEELSON_TEST_POSTGRES`
    return { lanes: [{ postgres: given, stop() {} }], postgres: { name } }
  }
  const started = await Promise.allSettled(Array.from({ length: count }, startPostgres))
  const servers = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const failure = started.find((result) => result.status === 'rejected')
  if (servers.length === 0) return without(count, `it does not start: ${failure?.reason.message}`)
  return {
    lanes: servers.map(({ url, stop }) => ({ postgres: url, stop })),
    postgres: { name: servers[0]?.name as string },
  }
}

function without(count: number, reason: string): Lanes {
  return {
    lanes: Array.from({ length: count }, () => ({ postgres: 'none', stop() {} })),
    postgres: { missing: reason },
  }
}
