/** The program of a reader process: runs one statement after another on a read-only connection. */
import { Connection, RowsTooLarge } from './connection.ts'
import type { ReaderAnswer, ReaderRequest } from './reader-process.ts'
import { RowGuard } from './row-guard.ts'

const [path = '', timeoutMs = ''] = process.argv.slice(2)
/** Ends a statement whose service was killed and can no longer kill this process. */
const orphanMs = Number(timeoutMs) + 5_000

const connection = new Connection(path, { readOnly: true })
const guard = new RowGuard()
guard.install(connection)

function answer({ text, values, maxBytes }: ReaderRequest): ReaderAnswer {
  try {
    return guard.limit(orphanMs, () =>
      maxBytes === undefined
        ? { rows: connection.read(text, values), bytes: 0 }
        : connection.readWithin(text, values, maxBytes),
    )
  } catch (error) {
    if (error instanceof RowsTooLarge) return 'large'
    const { message, errcode, code } = error as Error & { errcode?: number; code?: string }
    return { failure: { message, errcode, code } }
  }
}

process.on('message', (request: ReaderRequest) => process.send?.(answer(request)))
process.on('disconnect', () => process.exit())
process.send?.('ready' satisfies ReaderAnswer)
// A signal to the whole process group is for the service, which ends its readers after the last response.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
