import assert from 'node:assert/strict'
import type { BenchRequest } from '../cases.ts'
import { inRounds, median } from '../measure.ts'
import { print, printRow } from '../print.ts'
import { type Started, startServer } from '../server.ts'
import type { Caused } from './crowd.ts'
import { Crowd, canHold, updates, usageOf } from './listening.ts'
import type { LivePart } from './part.ts'

const sizes = [1000, 5000, 9000]
/** The least number of frames in a sample; a smaller one would be mostly noise. */
const deliveriesPerSample = 30_000

const names = ['bare', 'keelson'] as const
type Name = (typeof names)[number]
type Sides = Readonly<
  Record<Name, { readonly server: Started; readonly crowd: Crowd; readonly requests: readonly BenchRequest[] }>
>

interface Sample {
  readonly cpuUs: number
  readonly lastMs: number
}

/** Updates one record to which every socket is subscribed. */
export const fanOut: LivePart = {
  name: 'fan-out',
  async run({ sqliteUrl, rounds, profile }) {
    await using bareServer = await startServer('live/bare-ws.ts', [], profile('bare'))
    await using keelsonServer = await startServer('keelson-server.ts', [await sqliteUrl()], profile('keelson'))
    await using bareCrowd = await Crowd.start()
    await using keelsonCrowd = await Crowd.start()
    const enter = async (count: number): Promise<void> => {
      await bareCrowd.ask({ kind: 'enter', port: bareServer.port, protocol: 'none', count })
      await keelsonCrowd.ask({
        kind: 'enter',
        port: keelsonServer.port,
        protocol: 'socket.io',
        count,
        addresses: ['/pet/1'],
      })
    }

    print(
      `\nfan-out of one update, medians of ${rounds} rounds: CPU of the server per delivery, time until the last one has it`,
    )
    printRow(['sockets', 'µs ws', 'keelson', 'ratio', 'ms ws', 'keelson', 'ratio'])
    for (const [index, size] of sizes.entries()) {
      if (!canHold(size)) {
        print(`${size} sockets are left out: there are not enough file descriptors (ulimit -n)`)
        continue
      }
      await enter(size - (sizes[index - 1] ?? 0))
      const keelson = { server: keelsonServer, crowd: keelsonCrowd, requests: updates }
      const { frame } = await cause(keelson, 1)
      const bare = { server: bareServer, crowd: bareCrowd, requests: [sentByHand(frame)] }
      assert.equal((await cause(bare, 1)).frame, frame, 'both write the same bytes')
      printRow([
        String(size),
        ...(await compare({ bare, keelson }, Math.ceil(deliveriesPerSample / size), rounds, size)),
      ])
    }
  },
}

/** The packet in the frame, for the server by hand. */
function sentByHand(frame: string): BenchRequest {
  const body = Buffer.from(frame.slice(frame.indexOf('42[')), 'latin1').toString()
  return { method: 'POST', target: '/', body }
}

async function compare(sides: Sides, times: number, rounds: number, size: number): Promise<readonly string[]> {
  const sample = async (name: Name): Promise<Sample> => {
    const { server, crowd, requests } = sides[name]
    const before = await usageOf(server)
    const { deliveries } = await cause({ crowd, server, requests }, times)
    const after = await usageOf(server)
    return {
      cpuUs: ((after.cpuMs - before.cpuMs) * 1000) / (times * size),
      lastMs: median(deliveries.map(({ receivedMs }) => receivedMs)),
    }
  }
  await inRounds(names, 1, sample) // until everything is compiled
  const samples = await inRounds(names, rounds, sample)
  return (['cpuUs', 'lastMs'] as const).flatMap((figure) => {
    const of = (name: Name): string => median(samples.map((taken) => taken[name][figure])).toFixed(2)
    const ratio = median(samples.map(({ bare, keelson }) => bare[figure] / keelson[figure]))
    return [of('bare'), of('keelson'), ratio.toFixed(2)]
  })
}

const cause = ({ server, crowd, requests }: Sides[Name], times: number): Promise<Caused> =>
  crowd.ask<Caused>({ kind: 'cause', port: server.port, requests, times, pauseMs: 0 })
