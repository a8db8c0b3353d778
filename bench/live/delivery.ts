import { print, printRow } from '../print.ts'
import { type Started, startServer } from '../server.ts'
import type { Caused } from './crowd.ts'
import { Crowd, updates } from './listening.ts'
import type { LivePart } from './part.ts'

const writes = 500
const warmUps = 100
/** Pause between two writes: processes on one PostgreSQL notify each other of commits at most every 20 ms. */
const pauseMs = 30

/** The latency of one update for one subscriber on an idle service. */
export const delivery: LivePart = {
  name: 'delivery',
  async run({ sqliteUrl, postgresUrl, profile }) {
    print(`\nuntil one subscriber receives an update on an idle machine, ${writes} updates: ms, p50 and p99`)
    printRow(['', 'answered', 'p99', 'received', 'p99', 'between', 'p99'])
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
  const { deliveries } = await cause(writes)
  const answered = deliveries.map(({ answeredMs }) => answeredMs)
  const received = deliveries.map(({ receivedMs }) => receivedMs)
  const between = deliveries.map(({ receivedMs, answeredMs }) => receivedMs - answeredMs)
  return [answered, received, between].flatMap((times) => [at(times, 0.5), at(times, 0.99)])
}

function at(times: readonly number[], share: number): string {
  const sorted = [...times].sort((a, b) => a - b)
  return (sorted[Math.floor((sorted.length - 1) * share)] as number).toFixed(2)
}
