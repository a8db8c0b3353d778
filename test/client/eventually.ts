import { setTimeout as sleep } from 'node:timers/promises'

/** Repeats an assertion until it holds. The test's own time limit ends one that never does. */
export async function eventually(assertion: () => void, timeoutMs = 20_000): Promise<void> {
  const end = performance.now() + timeoutMs
  for (;;) {
    try {
      return assertion()
    } catch (error) {
      if (performance.now() > end) throw error
      await sleep(2)
    }
  }
}
