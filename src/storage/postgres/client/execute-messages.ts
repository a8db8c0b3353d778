/** Copied character by character up to here; a call of the buffer costs more. */
const shortLength = 32

/** Execute the portal without a name, all of its rows. */
const execute = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0])
const sync = Buffer.from([0x53, 0, 0, 0, 4])

/** The bytes of `Bind` but for the name of the statement and the values: kind, length, portal, counts and formats. */
const bindLength = 1 + 4 + 1 + 1 + 2 + 2 + 2

/**
 * Binds a prepared statement to its values, as text, executes it and, where it is the last one, ends the request: as one
 * buffer, because each write to a stream has a cost of its own. `statement` has ASCII characters only.
 */
export function executeMessages(statement: string, values: readonly unknown[], isLast: boolean): Buffer {
  let boundLength = bindLength + statement.length
  for (let index = 0; index < values.length; index++) boundLength += 4 + lengthOf(textOf(values[index]))
  const bytes = Buffer.allocUnsafe(boundLength + execute.length + (isLast ? sync.length : 0))
  bytes[0] = 0x42
  let at = putInt32(bytes, 1, boundLength - 1)
  bytes[at++] = 0 // the portal without a name
  at = putAscii(bytes, at, statement)
  bytes[at++] = 0
  at = putInt16(bytes, at, 0) // all values are text
  at = putInt16(bytes, at, values.length)
  for (let index = 0; index < values.length; index++) at = putValue(bytes, at, textOf(values[index]))
  at = putInt16(bytes, at, 0) // all results are text
  for (let index = 0; index < execute.length; index++) bytes[at++] = execute[index] as number
  if (isLast) for (let index = 0; index < sync.length; index++) bytes[at++] = sync[index] as number
  return bytes
}

/** All values but null are sent as text. */
const textOf = (value: unknown): string | null =>
  typeof value === 'string' ? value : value === null || value === undefined ? null : String(value)

const lengthOf = (text: string | null): number => (text === null ? 0 : Buffer.byteLength(text))

function putValue(bytes: Buffer, at: number, text: string | null): number {
  if (text === null) return putInt32(bytes, at, -1)
  const length = Buffer.byteLength(text)
  const from = putInt32(bytes, at, length)
  // Each character beyond ASCII has more bytes than it has units.
  if (length === text.length && length <= shortLength) return putAscii(bytes, from, text)
  return from + bytes.write(text, from)
}

function putAscii(bytes: Buffer, at: number, text: string): number {
  for (let index = 0; index < text.length; index++) bytes[at + index] = text.charCodeAt(index)
  return at + text.length
}

function putInt16(bytes: Buffer, at: number, number: number): number {
  bytes[at] = number >>> 8
  bytes[at + 1] = number
  return at + 2
}

function putInt32(bytes: Buffer, at: number, number: number): number {
  bytes[at] = number >>> 24
  bytes[at + 1] = number >>> 16
  bytes[at + 2] = number >>> 8
  bytes[at + 3] = number
  return at + 4
}
