import { setTimeout as pause } from 'node:timers/promises'
import { isBusy } from '../errors.ts'

/** SQLite has no lock queue: with a growing interval, a waiting writer would be overtaken by newer ones. */
const retryMs = 1

/**
 * Repeats an action while another program holds the lock, for at most `limitMs`. The retries run from a timer: SQLite's
 * own busy timeout would block the event loop.
 */
export async function retryWhileBusy<T>(action: () => T, limitMs: number, onBusy = () => {}): Promise<T> {
  const giveUpAt = performance.now() + limitMs
  for (;;) {
    try {
      return action()
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpAt) throw error
    }
    onBusy()
    await pause(retryMs)
  }
}
