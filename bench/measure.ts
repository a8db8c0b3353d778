import { type BenchCase, type Given, requestsOf } from './cases.ts'
import type { Child, Usage } from './child.ts'
import type { LoadOrder, LoadResult } from './load.ts'
import { type Variant, variants } from './prepare.ts'

export interface Server {
  readonly process: Child
  readonly port: number
  readonly given: Given
}
export type Servers = Readonly<Record<Variant, Server>>

export interface MeasureOptions {
  readonly rounds: number
  /** Seconds for each server before the rounds: V8's compilers take processor time until the code of a case is optimized. */
  readonly warmUp: number
  readonly seconds: number
  readonly connections: number
  /** Requests per second of the second measurement. */
  readonly rate: number
}

/** One server in one round. */
export interface Sample {
  /** Responses per second of CPU time of the server's process. */
  readonly perCpuSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** One server in one round, with all connections busy and at a fixed rate. */
export interface Samples extends Sample {
  readonly p50AtRateMs: number
  readonly p99AtRateMs: number
}

export interface Figures {
  readonly perCpuSecond: Readonly<Record<Variant, number>>
  readonly p50Ms: Readonly<Record<Variant, number>>
  readonly p99Ms: Readonly<Record<Variant, number>>
  readonly p50AtRateMs: Readonly<Record<Variant, number>>
  readonly p99AtRateMs: Readonly<Record<Variant, number>>
  /** Keelson's responses relative to the others, in the same round. */
  readonly ratio: Readonly<Record<'with' | 'without', number>>
}

/**
 * A round measures each server in turn, and the next round begins with another one, so that other load on the machine
 * affects them alike.
 */
export async function inRounds<Name extends string, Sample>(
  names: readonly Name[],
  rounds: number,
  sample: (name: Name) => Promise<Sample>,
): Promise<readonly Readonly<Record<Name, Sample>>[]> {
  const samples: Record<Name, Sample>[] = []
  for (let round = 0; round < rounds; round++) {
    const taken: Partial<Record<Name, Sample>> = {}
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + turn) % names.length] as Name
      taken[name] = await sample(name)
    }
    samples.push(taken as Record<Name, Sample>)
  }
  return samples
}

/** All figures are medians over the rounds. */
export async function measure(
  { name }: BenchCase,
  servers: Servers,
  load: Child,
  { rounds, warmUp, ...options }: MeasureOptions,
): Promise<Figures> {
  const order = ({ port, given }: Server) => ({ port, requests: requestsOf(name, given), ...options })
  for (const variant of variants) {
    const server = servers[variant]
    const { rate, ...atFullLoad } = order(server)
    await sampleOf(server.process, load, { ...atFullLoad, seconds: warmUp })
  }
  const sample = (variant: Variant): Promise<Samples> =>
    samplesOf(servers[variant].process, load, order(servers[variant]))
  const samples = await inRounds(variants, rounds, sample)

  const medians = (figure: keyof Samples): Record<Variant, number> => ({
    without: median(samples.map((taken) => taken.without[figure])),
    with: median(samples.map((taken) => taken.with[figure])),
    keelson: median(samples.map((taken) => taken.keelson[figure])),
  })
  const ratioTo = (variant: Variant): number =>
    median(samples.map((taken) => taken.keelson.perCpuSecond / taken[variant].perCpuSecond))
  return {
    perCpuSecond: medians('perCpuSecond'),
    p50Ms: medians('p50Ms'),
    p99Ms: medians('p99Ms'),
    p50AtRateMs: medians('p50AtRateMs'),
    p99AtRateMs: medians('p99AtRateMs'),
    ratio: { with: ratioTo('with'), without: ratioTo('without') },
  }
}

export async function samplesOf(server: Child, load: Child, order: Required<LoadOrder>): Promise<Samples> {
  const { rate, ...atFullLoad } = order
  const full = await sampleOf(server, load, atFullLoad)
  const { p50Ms, p99Ms } = await sampleOf(server, load, order)
  return { ...full, p50AtRateMs: p50Ms, p99AtRateMs: p99Ms }
}

export async function sampleOf(server: Child, load: Child, order: LoadOrder): Promise<Sample> {
  const before = (await server.ask('usage')) as Usage
  const answer = (await load.ask(order)) as { readonly result?: LoadResult; readonly failure?: string }
  const after = (await server.ask('usage')) as Usage
  if (!answer.result) throw new Error(answer.failure)
  const { answers, p50Ms, p99Ms } = answer.result
  return { perCpuSecond: (answers * 1000) / (after.cpuMs - before.cpuMs), p50Ms, p99Ms }
}

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] as number
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2
}
