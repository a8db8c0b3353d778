import { setTimeout as pause } from 'node:timers/promises'
import { isBusy } from './errors.ts'

/** SQLite has no queue: who asks less often the longer it has waited is overtaken by everybody else. */
const askAgainMs = 1

/**
 * Does what needs the database to itself as soon as nobody else holds it. Between two attempts this process goes on: a
 * busy timeout of SQLite's own would stop it.
 */
export async function whenFree<T>(action: () => T, limitMs: number, onBusy = () => {}): Promise<T> {
  const giveUpAt = performance.now() + limitMs
  for (;;) {
    try {
      return action()
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpAt) throw error
    }
    onBusy()
    await pause(askAgainMs)
  }
}
