import type { ChangeLog } from '../storage/change-log.ts'
import { type Clock, callEvery } from '../support/clock.ts'
import { withoutStack } from '../support/without-stack.ts'

/** Usually longer than a migration takes from dropping a table to its last statement. */
const everyMs = 10_000

/** Reports each table once whose changes are no longer captured. Otherwise missing events would go unnoticed. */
export function watchCaptures(
  { uncaptured }: Pick<ChangeLog, 'uncaptured'>,
  clock: Clock,
  onError: (error: unknown) => void,
): Disposable {
  let reported: readonly string[] = []
  let isBusy = false
  const look = async () => {
    const tables = (await uncaptured?.()) ?? []
    const added = tables.filter((table) => !reported.includes(table))
    reported = tables
    if (added.length > 0) onError(notCaptured(added))
  }
  return callEvery(clock, everyMs, () => {
    if (isBusy) return
    isBusy = true
    look()
      .catch(() => {}) // requests report a database that cannot be read
      .finally(() => {
        isBusy = false
      })
  })
}

function notCaptured(tables: readonly string[]): Error {
  const message = `Changes of ${tables.join(', ')} are no longer captured, so that there are no events of them: the triggers were dropped or disabled, as by a migration that makes a table again. The next start creates them, except with migrate: "safe"`
  return withoutStack(new Error(message))
}
