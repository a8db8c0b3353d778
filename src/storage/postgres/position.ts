import type { Position } from '../../protocol/change.ts'

/** What a transaction could see at one moment: all up to `xmax`, without those that were running. */
export interface Snapshot {
  readonly xmin: bigint
  readonly xmax: bigint
  readonly running: readonly string[]
  /** As the server spells it. */
  readonly text: string
}

/** A place in the log: behind all that `from` saw; and behind part of what `until` saw, when a batch was too long. */
export interface Place {
  readonly history: string
  readonly from: Snapshot
  readonly inside?: { readonly until: Snapshot; readonly seq: bigint } | undefined
}

/** As many transactions as these cannot be running; a longer one was made by somebody else. */
const longestPosition = 100_000

const digits = /^\d{1,19}$/

/** The server's own form, `xmin:xmax:running,running`. Undefined for what it would never have written. */
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

/** What the transaction did is in what the snapshot shows. */
export const sees = ({ xmax, running }: Snapshot, tx: string): boolean => BigInt(tx) < xmax && !running.includes(tx)

/** `history.snapshot`, or `history.snapshot~snapshot~number` inside a batch. */
export function positionOf({ history, from, inside }: Place): Position {
  return inside ? `${history}.${from.text}~${inside.until.text}~${inside.seq}` : `${history}.${from.text}`
}

/** Clients send positions back, so nothing in them is believed. */
export function placeOf(position: Position): Place | undefined {
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
