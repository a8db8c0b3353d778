import type { Position } from '../../../protocol/change.ts'

/** A database snapshot: all transactions below `xmax` except those that were running. */
export interface Snapshot {
  readonly xmin: bigint
  readonly xmax: bigint
  readonly running: readonly string[]
  /** The server's text form. */
  readonly text: string
}

/** A position in the log: after everything that `from` saw and, within a long batch, after a part of what `until` saw. */
export interface DecodedPosition {
  readonly history: string
  readonly from: Snapshot
  readonly inside?: { readonly until: Snapshot; readonly seq: bigint } | undefined
}

/** Longer positions are not from this server: so many transactions cannot be running. */
const longestPosition = 100_000

const digits = /^\d{1,19}$/

/** Parses `xmin:xmax:running,running`. Undefined for text that the server cannot have written. */
export function parseSnapshot(text: string): Snapshot | undefined {
  const [xmin = '', xmax = '', list, ...rest] = text.split(':')
  if (!digits.test(xmin) || !digits.test(xmax) || list === undefined || rest.length > 0) return undefined
  const running = list === '' ? [] : list.split(',')
  let last = BigInt(xmin) - 1n
  for (const item of running) {
    if (!digits.test(item) || BigInt(item) <= last || BigInt(item) >= BigInt(xmax)) return undefined
    last = BigInt(item)
  }
  if (BigInt(xmin) > BigInt(xmax)) return undefined
  return { xmin: BigInt(xmin), xmax: BigInt(xmax), running, text }
}

/** Whether the snapshot contains the transaction. */
export const sees = ({ xmax, running }: Snapshot, tx: string): boolean => BigInt(tx) < xmax && !running.includes(tx)

/** Whether a snapshot contains every transaction that another one contains. */
export const covers = (snapshot: Snapshot, other: Snapshot): boolean =>
  snapshot.xmax >= other.xmax && snapshot.running.every((tx) => BigInt(tx) >= other.xmax || other.running.includes(tx))

/** `history.snapshot`, or `history.snapshot~snapshot~number` inside a batch. */
export function encodePosition({ history, from, inside }: DecodedPosition): Position {
  return inside ? `${history}.${from.text}~${inside.until.text}~${inside.seq}` : `${history}.${from.text}`
}

const beginning = /^([^.]*)\.\d{1,19}:(\d{1,19}):/

/**
 * Whether the beginning of a position alone shows that the decoded one does not cover it. A client may wait for a position with
 * thousands of running transactions, which is compared again and again.
 */
export function isAhead(position: Position, { history, from }: DecodedPosition): boolean {
  const [, itsHistory, xmax = ''] = beginning.exec(position) ?? []
  return itsHistory === history && BigInt(xmax) > from.xmax
}

/** Positions come from clients, so every part is checked. */
export function decodePosition(position: Position): DecodedPosition | undefined {
  if (position.length > longestPosition) return undefined
  const dot = position.indexOf('.')
  const [from = '', until, seq, ...rest] = position.slice(dot + 1).split('~')
  const start = parseSnapshot(from)
  if (dot < 0 || !start || rest.length > 0) return undefined
  const place = { history: position.slice(0, dot), from: start }
  if (until === undefined) return place
  const end = parseSnapshot(until)
  if (!end || seq === undefined || !digits.test(seq) || end.xmax < start.xmax) return undefined
  return { ...place, inside: { until: end, seq: BigInt(seq) } }
}
