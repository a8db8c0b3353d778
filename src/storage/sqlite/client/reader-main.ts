/** The program of a reader process: runs one statement after another on a read-only connection. */
import type { Row } from '../../driver.ts'
import { Connection } from './connection.ts'
import { RowsTooLarge, rowSize } from './measured-rows.ts'
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
const send = (message: ReaderMessage): void => void process.send?.(message, undefined, undefined, endWithService)

/** The service has ended, or was killed, when nothing can be sent to it. */
function endWithService(error: Error | null): void {
  if (error) process.exit()
}

/** Rows of more bytes are sent in parts: the service reads a message in one turn of its event loop. */
const partBytes = 250_000

function* inParts(rows: readonly Row[]): Iterable<readonly Row[]> {
  let part: Row[] = []
  let bytes = 0
  for (const row of rows) {
    part.push(row)
    bytes += rowSize(row)
    if (bytes < partBytes) continue
    yield part
    part = []
    bytes = 0
  }
  yield part
}

function* answers(request: ReaderRequest): Iterable<ReaderAnswer> {
  const whole = answer(request)
  if (typeof whole === 'string' || !('rows' in whole) || (whole.bytes ?? 0) < partBytes) return yield whole
  for (const rows of inParts(whole.rows)) yield { rows }
  yield { rows: [], bytes: whole.bytes }
}

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

process.on('message', (request: ReaderRequest) => {
  for (const message of answers(request)) send(message)
})
process.on('disconnect', () => process.exit())
send('ready')
process.stdout.on('error', endWithService)
// A signal to the whole process group is for the service, which ends its readers after the last response.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
