import { Session } from 'node:inspector/promises'

const sources = new URL('../../src/', import.meta.url).href

/**
 * Counts the calls of the functions in `src/`, by the profiler of V8. It is a measure of work that depends neither on the
 * machine nor on what else runs there.
 */
export class CallCounter implements Disposable {
  readonly #session = new Session()

  static async start(): Promise<CallCounter> {
    const counter = new CallCounter()
    counter.#session.connect()
    await counter.#session.post('Profiler.enable')
    await counter.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    return counter
  }

  /** The calls since the last time. */
  async take(): Promise<number> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage')
    let calls = 0
    for (const { url, functions } of result)
      if (url.startsWith(sources)) for (const { ranges } of functions) calls += ranges[0]?.count ?? 0
    return calls
  }

  [Symbol.dispose](): void {
    this.#session.disconnect()
  }
}
