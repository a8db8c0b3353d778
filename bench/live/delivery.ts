import { print, printRow } from '../print.ts'
import { type Started, startServer } from '../server.ts'
import type { Caused } from './crowd.ts'
import { Crowd, updates } from './listening.ts'
import type { LivePart } from './part.ts'

const writes = 500
const warmUps = 100
/** Between two writes everybody is idle: processes on one PostgreSQL tell each other of commits every 20 ms at most. */
const pauseMs = 30

/** How long one listener waits for one update while nothing else happens. */
export const delivery: LivePart = {
  name: 'delivery',
  async run({ sqliteUrl, postgresUrl, profile }) {
    print(`\nuntil one listener hears of an update on an idle machine, ${writes} updates: ms, p50 and p99`)
    printRow(['', 'answered', 'p99', 'heard', 'p99', 'between', 'p99'])
    {
      await using server = await startServer('keelson-server.ts', [await sqliteUrl()], profile('sqlite'))
      printRow(['SQLite', ...(await measure(server, server))])
    }
    if (!postgresUrl) return print('PostgreSQL is left out: KEELSON_TEST_POSTGRES names no server')
    const url = await postgresUrl()
    await using writer = await startServer('keelson-server.ts', [url], profile('postgres'))
    printRow(['PostgreSQL', ...(await measure(writer, writer))])
    await using listener = await startServer('keelson-server.ts', [url], profile('postgres-listener'))
    printRow(['PostgreSQL, two', ...(await measure(writer, listener))])
  },
}

async function measure(writer: Started, listener: Started): Promise<readonly string[]> {
  await using crowd = await Crowd.start()
  await crowd.ask({ kind: 'enter', port: listener.port, protocol: 'socket.io', count: 1, addresses: ['/pet/1'] })
  const cause = (times: number): Promise<Caused> =>
    crowd.ask<Caused>({ kind: 'cause', port: writer.port, requests: updates, times, pauseMs })
  await cause(warmUps)
  const { told } = await cause(writes)
  const answered = told.map(({ answeredMs }) => answeredMs)
  const heard = told.map(({ heardMs }) => heardMs)
  const between = told.map(({ heardMs, answeredMs }) => heardMs - answeredMs)
  return [answered, heard, between].flatMap((times) => [at(times, 0.5), at(times, 0.99)])
}

function at(times: readonly number[], share: number): string {
  const sorted = [...times].sort((a, b) => a - b)
  return (sorted[Math.floor((sorted.length - 1) * share)] as number).toFixed(2)
}
