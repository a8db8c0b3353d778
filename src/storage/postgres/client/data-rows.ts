import type * as pg from 'pg'
import type { Row } from '../../driver.ts'

/** Consecutive rows of one result, and the bytes of their messages. */
export interface DataRows {
  readonly rows: Row[]
  readonly length: number
}

/** The first byte of the message of a row. */
const dataRow = 0x44
/** That byte, and the length of what follows it. */
const headLength = 5
/** Values of a longer row do not share a text: one that is kept would keep all of it. */
const sharedLength = 4096
/** The highest bits of four bytes, which are set in bytes that are no ASCII characters. */
const beyondAscii = 0x80808080

/**
 * Reads rows in place of the parser of `pg`, which decodes each value by a call of its own and emits each row; all other
 * messages go on to that parser. Rows that arrive together are one `dataRow`. Where others read the stream as well, nothing
 * is changed.
 */
export function readDataRows(wire: pg.Connection): void {
  const { stream } = wire
  const [parse, ...others] = stream.listeners('data')
  if (parse === undefined || others.length > 0) return
  const messages = new MessageReader(
    (rows) => wire.emit('dataRow', rows),
    (bytes) => parse.call(stream, bytes),
  )
  stream.on('data', (chunk: Buffer) => messages.read(chunk))
  stream.removeListener('data', parse as () => void)
}

/** Separates rows from all other messages of the server. */
export class MessageReader {
  readonly #onRows: (rows: DataRows) => void
  readonly #onOthers: (messages: Buffer) => void
  /** A message whose end has not arrived. */
  #begun: Buffer[] = []
  #begunLength = 0
  /** Its length, or that of its head, until which it is not looked at again. */
  #needed = 0

  constructor(onRows: (rows: DataRows) => void, onOthers: (messages: Buffer) => void) {
    this.#onRows = onRows
    this.#onOthers = onOthers
  }

  read(chunk: Buffer): void {
    let at = 0
    while (this.#begunLength > 0 && at < chunk.length) {
      const part = chunk.subarray(at, at + this.#needed - this.#begunLength)
      this.#begun.push(part)
      this.#begunLength += part.length
      if (this.#begunLength < this.#needed) return
      at += part.length
      const bytes = joined(this.#begun, this.#begunLength)
      this.#begun = []
      this.#begunLength = 0
      this.#readMessages(bytes)
    }
    if (at < chunk.length) this.#readMessages(at === 0 ? chunk : chunk.subarray(at))
  }

  #readMessages(bytes: Buffer): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    let at = 0
    while (at < bytes.length) {
      const from = at
      if (bytes[at] === dataRow) {
        const rows: Row[] = []
        for (let end = endOf(view, at); bytes[at] === dataRow && end <= bytes.length; end = endOf(view, at)) {
          rows.push(rowOf(bytes, view, at + headLength, end))
          at = end
        }
        if (rows.length > 0) this.#onRows({ rows, length: at - from })
      } else {
        for (let end = endOf(view, at); bytes[at] !== dataRow && end <= bytes.length; end = endOf(view, at)) at = end
        if (at > from) this.#onOthers(from === 0 && at === bytes.length ? bytes : bytes.subarray(from, at))
      }
      if (at === from) {
        this.#begin(bytes.subarray(at), endOf(view, at) - at)
        return
      }
    }
  }

  #begin(bytes: Buffer, length: number): void {
    this.#begun.push(bytes)
    this.#begunLength = bytes.length
    this.#needed = length === Number.POSITIVE_INFINITY ? headLength : length
  }
}

/** For rows that arrive in several chunks, of all connections: as buffers of their own they would be garbage of the same size. */
let rowBytes = Buffer.alloc(0)
const longestJoined = 4_194_304

/** A head or a message; a row is overwritten by the next one of any connection. */
function joined(chunks: readonly Buffer[], length: number): Buffer {
  // A head is kept until the rest has come, and the parser of all other messages may keep what it is given.
  const isRow = length > headLength && chunks[0]?.[0] === dataRow
  if (!isRow || length > longestJoined) return Buffer.concat(chunks, length)
  if (length > rowBytes.length) rowBytes = Buffer.allocUnsafeSlow(Math.min(2 * length, longestJoined))
  let at = 0
  for (const chunk of chunks) at += chunk.copy(rowBytes, at)
  return rowBytes.subarray(0, length)
}

/** Where the message at `at` ends; unknown before the whole head has arrived. */
const endOf = (view: DataView, at: number): number =>
  at + headLength > view.byteLength ? Number.POSITIVE_INFINITY : at + 1 + view.getUint32(at + 1)

/** The values of a row; those of ASCII characters are parts of one text. */
function rowOf(bytes: Buffer, view: DataView, start: number, end: number): Row {
  const row = new Array<string | null>(view.getUint16(start))
  const isShared = end - start <= sharedLength
  const text = isShared ? bytes.toString('latin1', start, end) : ''
  let at = start + 2
  for (let index = 0; index < row.length; index++) {
    const length = view.getInt32(at)
    at += 4
    if (length < 0) {
      row[index] = null
      continue
    }
    const from = at
    at += length
    row[index] =
      isShared && isAscii(bytes, view, from, at)
        ? text.substring(from - start, at - start)
        : bytes.toString('utf8', from, at)
  }
  return row
}

function isAscii(bytes: Buffer, view: DataView, from: number, end: number): boolean {
  let bits = 0
  let at = from
  for (; at + 4 <= end; at += 4) bits |= view.getInt32(at)
  for (; at < end; at++) bits |= bytes[at] as number
  return (bits & beyondAscii) === 0
}
