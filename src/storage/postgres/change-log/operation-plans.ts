import { Lru } from '../../../support/lru.ts'
import type { Row } from '../../driver.ts'
import { arrayOf } from '../client/text-form.ts'
import type { Snapshot } from './position.ts'

/** One for each of so many readers at different positions, which take turns. A plan takes at most about 1 MB. */
const keptPlans = 32

export interface Operation {
  readonly tx: string
  /** The `seq` of its last row, which determines its order. */
  readonly last: bigint
  readonly rows: number
}

/** The next operations between two snapshots, in their order. */
export interface Plan {
  /** All operations with `last` above `after` and below `below` are in the plan, and no others. */
  readonly after: bigint
  readonly below: bigint
  readonly operations: readonly Operation[]
  /** Whether these are the last ones. */
  readonly isComplete: boolean
}

/** The transactions from one number to another. */
interface Range {
  readonly fromTx: bigint
  readonly toTx: bigint
  /** The largest `seq` of their rows. */
  readonly last: bigint
  /** The smallest `seq` in any later range: operations with `last` below it are in this range or an earlier one. */
  readonly below: bigint
}

/** What one statement reads: longer ones would reach the time limit when much is to be read. */
export interface PlanSizes {
  /** Rows of a range, and the other ones of its last transaction. */
  readonly rows: number
  readonly operations: number
}

const defaultSizes: PlanSizes = { rows: 10_000, operations: 10_000 }
const noBound = 2n ** 63n - 1n

type Read = (text: string, values: readonly unknown[]) => Promise<readonly Row[]>

/**
 * The order of the operations that one snapshot contains and an earlier one does not. One statement that sorts millions of rows may exceed
 * the time limit. So the log is divided into ranges of transactions, and what ends before all rows of the later ranges is sorted first.
 */
export class OperationPlans {
  readonly #read: Read
  readonly #log: string
  readonly #sizes: PlanSizes
  readonly #plans = new Lru<string, Plan>(keptPlans)
  readonly #ranges = new Lru<string, readonly Range[]>(keptPlans)

  constructor(read: Read, log: string, sizes: PlanSizes = defaultSizes) {
    this.#read = read
    this.#log = log
    this.#sizes = sizes
  }

  /** The next operations: those with `last` above `after`. A kept plan may begin with some that are not; without others, none are left. */
  async next(from: Snapshot, until: Snapshot, after: bigint): Promise<Plan> {
    const key = `${from.text}~${until.text}`
    const kept = this.#plans.get(key)
    const isUsable = kept !== undefined && kept.after <= after
    if (isUsable && (kept.isComplete || (kept.operations.at(-1)?.last ?? 0n) > after)) return kept
    const ranges = await this.#rangesOf(key, from, until)
    for (let seen = isUsable && kept.below > after ? kept.below - 1n : after; ; ) {
      const index = ranges.findIndex(({ below }) => below > seen + 1n)
      const { below } = ranges[index] as Range
      const within = ranges.slice(0, index + 1).filter(({ last }) => last > seen)
      const operations = await this.#sort(within, { from, until, after: seen, below })
      const isCut = operations.length === this.#sizes.operations
      const isLast = index === ranges.length - 1
      if (operations.length > 0 || isLast) {
        const end = isCut ? (operations.at(-1) as Operation).last + 1n : below
        const plan = { after, below: end, operations, isComplete: isLast && !isCut }
        this.#plans.set(key, plan)
        return plan
      }
      seen = below - 1n
    }
  }

  async #sort(
    ranges: readonly Range[],
    { from, until, after, below }: { from: Snapshot; until: Snapshot; after: bigint; below: bigint },
  ): Promise<readonly Operation[]> {
    const rows = await this.#read(
      `select tx, max(seq), count(*) from (
         select l.tx, l.seq from unnest($1::xid8[], $2::xid8[]) r (from_tx, to_tx) join ${this.#log} l on l.tx >= r.from_tx and l.tx <= r.to_tx
         union all select tx, seq from ${this.#log} where tx = any($3::xid8[])
       ) l where tx <> all($4::xid8[]) group by tx having max(seq) > $5::bigint and max(seq) < $6::bigint order by max(seq) limit ${this.#sizes.operations}`,
      [
        arrayOf(ranges.map(({ fromTx }) => String(fromTx))),
        arrayOf(ranges.map(({ toTx }) => String(toTx < until.xmax ? toTx : until.xmax - 1n))),
        arrayOf(from.running),
        arrayOf(until.running),
        String(after),
        String(below),
      ],
    )
    return rows.map(([tx, last, count]) => ({
      tx: tx as string,
      last: BigInt(last as string),
      rows: Number(count),
    }))
  }

  async #rangesOf(key: string, from: Snapshot, until: Snapshot): Promise<readonly Range[]> {
    const whole = { fromTx: from.xmax, toTx: until.xmax - 1n, last: noBound, below: noBound }
    if (until.xmax - from.xmax < this.#sizes.operations) return [whole]
    const kept = this.#ranges.get(key)
    if (kept) return kept
    const found: (Omit<Range, 'below'> & { readonly first: bigint })[] = []
    for (let next = from.xmax; next < until.xmax; ) {
      // Without an upper bound for the transactions: of a table without statistics, all rows would be read and sorted for each range.
      const [row] = await this.#read(
        `select max(tx::text::bigint), min(seq), max(seq), count(*) from (select tx, seq from ${this.#log} where tx >= $1::xid8
         order by tx fetch first ${this.#sizes.rows} rows with ties) l`,
        [String(next)],
      )
      const [toTx, first, last, count] = row as readonly string[]
      if (Number(count) === 0) break
      const range = {
        fromTx: next,
        toTx: BigInt(toTx as string),
        first: BigInt(first as string),
        last: BigInt(last as string),
      }
      found.push(range)
      if (Number(count) < this.#sizes.rows) break
      next = range.toTx + 1n
    }
    let below = noBound
    const ranges: Range[] = []
    for (const { first, ...range } of found.toReversed()) {
      ranges.unshift({ ...range, below })
      if (first < below) below = first
    }
    if (ranges.length === 0) ranges.push(whole)
    this.#ranges.set(key, ranges)
    return ranges
  }
}
