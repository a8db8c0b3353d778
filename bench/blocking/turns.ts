import { Session } from 'node:inspector/promises'
import { monotonicUs } from './scheduled.ts'

export interface LongestTurn {
  /** The processor time of the turn. */
  readonly ms: number
  /** The functions that took most of it, the innermost last; empty unless stacks are recorded. */
  readonly stack: readonly string[]
  /** The turns of the requested period with their processor time, and the functions that took most of it. */
  readonly during: readonly string[]
}

/** A period in microseconds of the monotonic clock. */
export interface Period {
  readonly from: number
  readonly to: number
}

/**
 * The processor time of the longest turn of the event loop since it was last asked for: the time between two ticks of a
 * timer that is always due. Other programs on the machine make a turn longer, but not its processor time.
 */
export class Turns {
  #longest = { ms: 0, from: 0, to: 0 }
  #turns: (Period & { readonly ms: number })[] = []
  readonly #session: Session | undefined

  constructor(withStacks: boolean) {
    this.#session = withStacks ? new Session() : undefined
    let last = { cpu: cpuMs(), at: monotonicUs() }
    setInterval(() => {
      const now = { cpu: cpuMs(), at: monotonicUs() }
      if (now.cpu - last.cpu > this.#longest.ms) this.#longest = { ms: now.cpu - last.cpu, from: last.at, to: now.at }
      if (withStacks && now.cpu - last.cpu > 1) this.#turns.push({ ms: now.cpu - last.cpu, from: last.at, to: now.at })
      last = now
    }, 1)
  }

  async start(): Promise<void> {
    this.#session?.connect()
    await this.#session?.post('Profiler.enable')
    await this.#session?.post('Profiler.setSamplingInterval', { interval: 500 })
    await this.#session?.post('Profiler.start')
  }

  async longest(period?: Period): Promise<LongestTurn> {
    const { ms, from, to } = this.#longest
    let stack: readonly string[] = []
    let during: readonly string[] = []
    if (this.#session) {
      const { profile } = await this.#session.post('Profiler.stop')
      stack = heaviest(profile, from, to)
      if (period) during = [this.#listed(period), ...heaviest(profile, period.from, period.to)]
      await this.#session.post('Profiler.start')
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
    this.#longest = { ms: 0, from: 0, to: 0 }
    this.#turns = []
    return { ms, stack, during }
  }

  #listed({ from, to }: Period): string {
    const turns = this.#turns.filter((turn) => turn.to > from && turn.from < to)
    return `turns of ${turns.map(({ ms }) => ms.toFixed(1)).join(' + ')} ms`
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
    readonly children?: number[]
  }[]
  readonly startTime: number
  readonly samples?: readonly number[]
  readonly timeDeltas?: readonly number[]
}

/** From the root to where most of the time goes, as long as it is a tenth of all. */
function heaviest({ nodes, startTime, samples = [], timeDeltas = [] }: Profile, from: number, to: number): string[] {
  const counts = new Map<number, number>()
  let at = startTime
  let total = 0
  for (const [index, id] of samples.entries()) {
    at += timeDeltas[index] ?? 0
    if (at < from || at > to) continue
    total++
    counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const inclusive = new Map<number, number>()
  const sum = (id: number): number => {
    const own = (counts.get(id) ?? 0) + (byId.get(id)?.children ?? []).reduce((all, child) => all + sum(child), 0)
    inclusive.set(id, own)
    return own
  }
  const root = nodes[0]
  if (!root || total === 0) return []
  sum(root.id)
  const lines: string[] = []
  const list = (id: number, depth: number): void => {
    const share = (inclusive.get(id) ?? 0) / total
    if (share < 0.1) return
    const { functionName, url, lineNumber } = (byId.get(id) as Profile['nodes'][number]).callFrame
    lines.push(
      `${' '.repeat(depth)}${Math.round(share * 100)}% ${functionName || 'anonymous'} ${url.split('/').slice(-2).join('/')}:${lineNumber + 1}`,
    )
    for (const child of byId.get(id)?.children ?? []) list(child, depth + 1)
  }
  for (const child of root.children ?? []) list(child, 0)
  return lines
}
