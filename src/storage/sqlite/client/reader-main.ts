/** The program of a reader process: runs one statement after another on a read-only connection. */
import { Connection, RowsTooLarge } from './connection.ts'
import { PageEncoder } from './page-encoder.ts'
import type { ReaderAnswer, ReaderMessage, ReaderRequest } from './reader-process.ts'
import { RowGuard } from './row-guard.ts'

const [path = '', timeoutMs = ''] = process.argv.slice(2)
/** Ends a statement whose service was killed and can no longer kill this process. */
const orphanMs = Number(timeoutMs) + 5_000

const connection = new Connection(path, { readOnly: true })
const guard = new RowGuard()
guard.install(connection)

const pages = new PageEncoder()
const send = (message: ReaderMessage): void => void process.send?.(message)

function answer({
  text,
  values,
  maxBytes,
  encoding,
  maxAnswerBytes = Number.POSITIVE_INFINITY,
}: ReaderRequest): ReaderAnswer {
  try {
    const measured = guard.limit(orphanMs, () =>
      maxBytes === undefined
        ? { rows: connection.read(text, values), bytes: 0 }
        : connection.readWithin(text, values, maxBytes),
    )
    if (!encoding) return measured
    const { parts, ...page } = pages.encode(measured.rows, encoding, maxAnswerBytes)
    for (const part of parts) process.stdout.write(part)
    return { page, length: parts.reduce((sum, { length }) => sum + length, 0), bytes: measured.bytes }
  } catch (error) {
    if (error instanceof RowsTooLarge) return 'large'
    const { message, errcode, code } = error as Error & { errcode?: number; code?: string }
    return { failure: { message, errcode, code } }
  }
}

process.on('message', (request: ReaderRequest) => send(answer(request)))
process.on('disconnect', () => process.exit())
send('ready')
process.stdout.on('error', () => process.exit()) // the service has ended
// A signal to the whole process group is for the service, which ends its readers after the last response.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
