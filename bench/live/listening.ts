import { join } from 'node:path'
import type { BenchRequest } from '../cases.ts'
import { Child, type Usage } from '../child.ts'
import { loadCpu, type Started } from '../server.ts'
import type { CrowdOrder } from './crowd.ts'

/** Sent in turn: each request changes something, and all events have the same length. */
export const updates = [1.5, 2.5].map(
  (weight): BenchRequest => ({ method: 'PATCH', target: '/pet/1', body: JSON.stringify({ weight }) }),
)

/** The largest number of sockets for one server and its clients: each end needs a file descriptor. */
export function canHold(sockets: number): boolean {
  const { soft } = (process.report.getReport() as OpenFiles).userLimits.open_files
  return soft === 'unlimited' || Number(soft) >= sockets + besides
}

/** Files that a process has open besides its sockets. */
const besides = 100

interface OpenFiles {
  readonly userLimits: { readonly open_files: { readonly soft: number | string } }
}

/** One crowd for each server, so that neither runs out of file descriptors. */
export class Crowd implements AsyncDisposable {
  readonly #process: Child

  private constructor(process: Child) {
    this.#process = process
  }

  static async start(): Promise<Crowd> {
    return new Crowd(await Child.start(loadCpu, [], join(import.meta.dirname, 'crowd.ts'), []))
  }

  async ask<Result = void>(order: CrowdOrder): Promise<Result> {
    const { result, failure } = (await this.#process.ask(order)) as { result: Result; failure?: string }
    if (failure !== undefined) throw new Error(failure)
    return result
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#process[Symbol.asyncDispose]()
  }
}

export const usageOf = async ({ process }: Started): Promise<Usage> => (await process.ask('usage')) as Usage

/** After a garbage collection. */
export async function settledUsageOf({ process }: Started): Promise<Usage> {
  for (let time = 0; time < 3; time++) await process.ask('usage without garbage')
  return (await process.ask('usage without garbage')) as Usage
}
