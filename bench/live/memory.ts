import { inRounds, median } from '../measure.ts'
import { print, printRow } from '../print.ts'
import { type Started, startServer } from '../server.ts'
import { Crowd, canHold, settledUsageOf } from './listening.ts'
import type { LiveBench, LivePart } from './part.ts'

const sockets = 4000
/** Rounds before the measurement, in which a few sockets connect and disconnect: one-time allocations are not counted. */
const warmUps = 10
const comingAndGoing = 200
/** Each socket follows one of these pages of 30; no two pages have a record in common. */
const pages = Array.from({ length: 300 }, (_, page) => `/pet?limit=30&skip=${30 * page}`)

const names = ['ws alone', 'keelson, no listening', 'keelson, 30 records'] as const
type Name = (typeof names)[number]

interface Sample {
  readonly rssKb: number
  readonly heapKb: number
}

/** What a socket that does nothing holds. */
export const memory: LivePart = {
  name: 'memory',
  async run(bench) {
    const count = canHold(sockets) ? sockets : 500
    const rounds = Math.min(bench.rounds, 3)
    const url = await bench.sqliteUrl()
    const samples = await inRounds(names, rounds, (name) => sample(name, url, count, bench))
    print(`\nmemory per socket, ${count} sockets, medians of ${rounds} rounds`)
    printRow(['', 'kB RSS', 'kB heap'])
    for (const name of names) {
      const of = (figure: keyof Sample): string => median(samples.map((taken) => taken[name][figure])).toFixed(1)
      printRow([name, of('rssKb'), of('heapKb')])
    }
  },
}

async function sample(name: Name, url: string, count: number, { profile }: LiveBench): Promise<Sample> {
  const nodeOptions = ['--expose-gc', ...profile(name)]
  await using server =
    name === 'ws alone'
      ? await startServer('live/bare-ws.ts', [], nodeOptions)
      : await startServer('keelson-server.ts', [url], nodeOptions)
  await using crowd = await Crowd.start()
  for (let time = 0; time < warmUps; time++) {
    await enter(name, server, crowd, comingAndGoing)
    await crowd.ask({ kind: 'leave' })
  }
  const empty = await settledUsageOf(server)
  await enter(name, server, crowd, count)
  const full = await settledUsageOf(server)
  return {
    rssKb: (full.rssBytes - empty.rssBytes) / count / 1024,
    heapKb: (full.heapBytes - empty.heapBytes) / count / 1024,
  }
}

const enter = (name: Name, { port }: Started, crowd: Crowd, count: number): Promise<void> =>
  crowd.ask({
    kind: 'enter',
    port,
    protocol: name === 'ws alone' ? 'none' : 'socket.io',
    count,
    addresses: name === 'keelson, 30 records' ? pages : [],
  })
