import { Agent, get } from 'node:http'
import { scheduled } from './scheduled.ts'

/** Times between two requests: short against what is measured. */
const pauseMs = 2

export interface Latencies {
  readonly worstMs: number
  readonly p99Ms: number
  /**
   * The most processor time that the server's main thread used during one read, without the time that this thread waited
   * for a processor: for this long the read waited for the service, on a machine however busy.
   */
  readonly worstCpuMs: number
  readonly count: number
}

/** Reads one record again and again over one connection, and measures each response. */
export async function probe(port: number, path: string, seconds: number, pid: number): Promise<Latencies> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  let worstCpuMs = 0
  for (const end = performance.now() + seconds * 1000; performance.now() < end; ) {
    const [before, ownBefore] = [scheduled(pid), scheduled(process.pid)]
    const begin = performance.now()
    await read(agent, port, path)
    times.push(performance.now() - begin)
    const [after, own] = [scheduled(pid), scheduled(process.pid)]
    if (before && after && ownBefore && own)
      worstCpuMs = Math.max(worstCpuMs, after.cpuMs - before.cpuMs - (own.delayMs - ownBefore.delayMs))
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  agent.destroy()
  times.sort((a, b) => a - b)
  return {
    worstMs: times.at(-1) as number,
    p99Ms: times[Math.floor(times.length * 0.99)] as number,
    worstCpuMs,
    count: times.length,
  }
}

const read = (agent: Agent, port: number, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    get({ agent, port, host: '127.0.0.1', path }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`GET ${path} has status ${response.statusCode}`))
      response.resume().on('end', resolve)
    }).on('error', reject)
  })
