import { Session } from 'node:inspector/promises'

export interface LongestTurn {
  /** Processor time. */
  readonly ms: number
  /** The functions that took most of it, the innermost last; empty unless stacks are recorded. */
  readonly stack: readonly string[]
}

/**
 * The processor time of the longest turn of the event loop since it was last asked for: the time between two ticks of a
 * timer that is always due. Other programs on the machine make a turn longer, but not its processor time.
 */
export class Turns {
  #longest = { ms: 0, from: 0, to: 0 }
  readonly #session: Session | undefined

  constructor(withStacks: boolean) {
    this.#session = withStacks ? new Session() : undefined
    let last = { cpu: cpuMs(), at: nowUs() }
    setInterval(() => {
      const now = { cpu: cpuMs(), at: nowUs() }
      if (now.cpu - last.cpu > this.#longest.ms) this.#longest = { ms: now.cpu - last.cpu, from: last.at, to: now.at }
      last = now
    }, 1)
  }

  async start(): Promise<void> {
    this.#session?.connect()
    await this.#session?.post('Profiler.enable')
    await this.#session?.post('Profiler.setSamplingInterval', { interval: 500 })
    await this.#session?.post('Profiler.start')
  }

  async longest(): Promise<LongestTurn> {
    const { ms, from, to } = this.#longest
    let stack: readonly string[] = []
    if (this.#session) {
      const { profile } = await this.#session.post('Profiler.stop')
      stack = heaviest(profile, from, to)
      await this.#session.post('Profiler.start')
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
    this.#longest = { ms: 0, from: 0, to: 0 }
    return { ms, stack }
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The clock of the profiler. */
const nowUs = (): number => Number(process.hrtime.bigint() / 1000n)

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
