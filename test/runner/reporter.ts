import type { TestEvent } from 'node:test/reporters'

export interface Counts {
  readonly tests: number
  readonly passed: number
  readonly skipped: number
}

export interface Report {
  /** Undefined when the process ended before its tests did. */
  readonly counts?: Counts
  /** The reason of each skipped test or suite. */
  readonly skips: readonly string[]
}

/** A reporter of `node:test` that writes one JSON document: the totals of a file and the reasons of its skips. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const skips: string[] = []
  let counts: Counts | undefined
  for await (const { type, data } of events) {
    if (type === 'test:pass' && data.skip !== undefined) skips.push(String(data.skip))
    if (type === 'test:summary') counts = data.counts
  }
  yield JSON.stringify({ counts, skips } satisfies Partial<Report>)
}
