/** A program that reads one record repeatedly, for the number of seconds that a message requests. */
import { Agent, get } from 'node:http'
import { measuringNice, monotonicUs, scheduled, setPriorityOfSession, stolenMs } from './scheduled.ts'

/** The time between two requests, short compared with what is measured. */
const pauseMs = 2

export interface Latencies {
  readonly worstMs: number
  /** How long, during the read of `worstMs`, the server's main thread was ready to run and waited for a processor. */
  readonly worstWaitMs: number
  /** How much time of all processors the host of the machine took during that read, in steps of 10 ms. */
  readonly worstStolenMs: number
  readonly p99Ms: number
  /**
   * The most processor time that the server's main thread used during one read, without the time that this thread waited
   * for a processor: for this long the read waited for the service, on a machine however busy.
   */
  readonly worstCpuMs: number
  /** When the read of `worstCpuMs` began and ended, in microseconds of the monotonic clock, which all processes share. */
  readonly worstCpuFrom: number
  readonly worstCpuTo: number
  readonly count: number
}

export interface Probe {
  readonly port: number
  readonly path: string
  /** The process of the server. */
  readonly pid: number
}

const { port, path, pid } = JSON.parse(process.argv[2] as string) as Probe
const hasPriority = setPriorityOfSession(measuringNice)

process.on('disconnect', () => process.exit())
process.on('message', async (message) => {
  if (message === 'stop') process.exit()
  if (message === 'has priority') process.send?.(hasPriority)
  else process.send?.(await probe(message as number))
})
process.send?.('ready')

/** Over one connection; each response is measured. */
async function probe(seconds: number): Promise<Latencies> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  let [worstMs, worstWaitMs, worstStolenMs, worstCpuMs, worstCpuFrom, worstCpuTo] = [0, 0, 0, 0, 0, 0]
  for (const end = performance.now() + seconds * 1000; performance.now() < end; ) {
    const [before, ownBefore] = [scheduled(pid), scheduled(process.pid)]
    const stolenBefore = stolenMs()
    const from = monotonicUs()
    const begin = performance.now()
    await read(agent)
    const ms = performance.now() - begin
    times.push(ms)
    const [after, own] = [scheduled(pid), scheduled(process.pid)]
    if (before && after && ownBefore && own) {
      const cpuMs = after.cpuMs - before.cpuMs - (own.delayMs - ownBefore.delayMs)
      if (cpuMs > worstCpuMs) [worstCpuMs, worstCpuFrom, worstCpuTo] = [cpuMs, from, monotonicUs()]
      if (ms > worstMs) worstWaitMs = after.delayMs - before.delayMs
    }
    if (ms > worstMs) [worstMs, worstStolenMs] = [ms, stolenMs() - stolenBefore]
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  agent.destroy()
  times.sort((a, b) => a - b)
  return {
    worstMs,
    worstWaitMs,
    worstStolenMs,
    p99Ms: times[Math.floor(times.length * 0.99)] as number,
    worstCpuMs,
    worstCpuFrom,
    worstCpuTo,
    count: times.length,
  }
}

function read(agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ agent, port, host: '127.0.0.1', path }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`GET ${path} has status ${response.statusCode}`))
      response.resume().on('end', resolve)
    }).on('error', reject)
  })
}
