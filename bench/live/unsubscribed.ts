import { join } from 'node:path'
import { requestsOf } from '../cases.ts'
import { Child } from '../child.ts'
import { inRounds, median, sampleOf } from '../measure.ts'
import { print, printRow } from '../print.ts'
import { loadCpu, startServer } from '../server.ts'
import { Crowd } from './listening.ts'
import type { LivePart } from './part.ts'

const names = ['sockets off', 'no connection', 'another model'] as const
type Name = (typeof names)[number]
const connections = 48

/** The cost of a write without subscribers. */
export const unsubscribed: LivePart = {
  name: 'unsubscribed',
  async run({ sqliteUrl, rounds, seconds, profile }) {
    const start = async (name: Name) =>
      startServer(
        'keelson-server.ts',
        [await sqliteUrl()],
        profile(name),
        name === 'sockets off' ? ['without-sockets'] : [],
      )
    await using off = await start('sockets off')
    await using idle = await start('no connection')
    await using another = await start('another model')
    await using crowd = await Crowd.start()
    await crowd.ask({ kind: 'enter', port: another.port, protocol: 'socket.io', count: 1, addresses: ['/owner/1'] })
    await using load = await Child.start(loadCpu, [], join(import.meta.dirname, '..', 'load.ts'), [])

    const servers = { 'sockets off': off, 'no connection': idle, 'another model': another }
    const sample = (name: Name) => {
      const { process, port } = servers[name]
      return sampleOf(process, load, { port, requests: requestsOf('update'), connections, seconds })
    }
    await inRounds(names, 1, sample) // until everything is compiled
    const samples = await inRounds(names, rounds, sample)
    print(`\nupdates without subscribers, per second of the server’s CPU, medians of ${rounds} rounds`)
    printRow(['subscribed to', 'updates', '/off'])
    for (const name of names) {
      const rate = median(samples.map((taken) => taken[name].perCpuSecond))
      const ratio = median(samples.map((taken) => taken[name].perCpuSecond / taken['sockets off'].perCpuSecond))
      printRow([name, rate.toFixed(0), ratio.toFixed(2)])
    }
  },
}
