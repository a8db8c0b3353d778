import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { type Clock, callEvery } from '../support/clock.ts'
import { withoutStack } from '../support/without-stack.ts'

const everyMs = 1_000
/** Failures that follow one another within this time have one cause and are reported once. */
const sameCauseMs = 60_000

/**
 * Reports once that no more files and connections can be opened. It tries regularly, because Node does not report connections
 * that the system refuses for this reason, and a statement only fails with "cannot be reached".
 */
export function watchDescriptors(clock: Clock, onError: (error: unknown) => void, open = openOne): Disposable {
  let failedAt = Number.NEGATIVE_INFINITY
  return callEvery(clock, everyMs, () => {
    try {
      open()
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (code !== 'EMFILE' && code !== 'ENFILE') return
      const now = clock.now()
      const isNew = now - failedAt > sameCauseMs
      failedAt = now
      if (isNew) onError(noneLeft(code))
    }
  })
}

const openOne = (): void => closeSync(openSync(devNull, 'r'))

function noneLeft(code: string): Error {
  const limit = code === 'EMFILE' ? 'the process (ulimit -n)' : 'the system'
  const message = `No file descriptors are left (${code}): new connections are closed, and the database may be out of reach, until some are free. The limit of ${limit} may be too low`
  return withoutStack(new Error(message))
}
