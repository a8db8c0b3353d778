import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { emptyDatabase, withPostgres } from '../../../../test/support/postgres-database.ts'
import { Random } from '../../../../test/support/random.ts'
import { OperationPlans } from './operation-plans.ts'
import { parseSnapshot, type Snapshot, sees } from './position.ts'

interface LogRow {
  readonly tx: number
  readonly seq: number
}

const snapshot = (xmin: number, xmax: number, running: readonly number[]) =>
  parseSnapshot(`${xmin}:${xmax}:${running}`) as Snapshot

/** Transactions that write rows among those of others: most few and soon, some until much later. */
function someRows(random: Random, transactions: number): readonly LogRow[] {
  const writes = Array.from({ length: transactions }, (_, index) => {
    const isLong = random.below(10) === 0
    const rows = 1 + random.below(isLong ? 12 : 3)
    return Array.from({ length: rows }, () => ({
      tx: 100 + index,
      at: index + random.below(isLong ? transactions : 4),
    }))
  })
  return writes
    .flat()
    .toSorted((a, b) => a.at - b.at)
    .map(({ tx }, seq) => ({ tx, seq: seq + 1 }))
}

/** The last `seq` of each operation that is in one snapshot and not in the other, by sorting all rows. */
function expected(rows: readonly LogRow[], from: Snapshot, until: Snapshot, after: bigint): readonly bigint[] {
  const ends = new Map<number, bigint>()
  for (const { tx, seq } of rows) if (sees(until, String(tx)) && !sees(from, String(tx))) ends.set(tx, BigInt(seq))
  return [...ends.values()].filter((end) => end > after).toSorted((a, b) => Number(a - b))
}

describe('the order of the operations between two snapshots', withPostgres, () => {
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    test(`is that of all their rows, read in parts (${seed})`, async () => {
      await using database = await emptyDatabase()
      const random = new Random(seed)
      const transactions = 60
      const rows = someRows(random, transactions)
      await database.query('create table log (seq bigint, tx xid8)')
      await database.query(
        `insert into log select seq, tx::text::xid8 from json_to_recordset($1) r (tx bigint, seq bigint)`,
        [JSON.stringify(rows)],
      )
      const some = (most: number, above: number, below: number) =>
        [...new Set(Array.from({ length: random.below(most) }, () => above + random.below(below - above)))].toSorted(
          (a, b) => a - b,
        )
      for (let pair = 0; pair < 6; pair++) {
        const start = 110 + random.below(transactions - 20)
        const end = start + random.below(100 + transactions - start)
        const from = snapshot(100, start, some(3, 100, start))
        const until = snapshot(100, Math.max(end, start), some(3, 100, start))
        for (const sizes of [
          { rows: 1, operations: 1 },
          { rows: 7, operations: 3 },
          { rows: 20, operations: 1_000 },
          { rows: 1_000, operations: 10 },
        ]) {
          const plans = new OperationPlans((text, values) => database.query(text, values), 'log', sizes)
          const found: bigint[] = []
          for (let after = 0n; ; ) {
            const { operations, isComplete } = await plans.next(from, until, after)
            const next = operations.filter(({ last }) => last > after)
            if (next.length === 0) {
              assert.ok(isComplete)
              break
            }
            // A reader may stop within a plan.
            const taken = next.slice(0, 1 + random.below(next.length))
            found.push(...taken.map(({ last }) => last))
            after = taken.at(-1)?.last as bigint
          }
          const what = `${from.text} to ${until.text}, ${JSON.stringify(sizes)}`
          assert.deepEqual(found, expected(rows, from, until, 0n), what)
          const late = BigInt(1 + random.below(rows.length))
          const { operations } = await plans.next(from, until, late)
          const rest = expected(rows, from, until, late)
          const here = operations.flatMap(({ last }) => (last > late ? [last] : []))
          assert.deepEqual(here, rest.slice(0, here.length), `${what}, after ${late}`)
          assert.ok(here.length > 0 || rest.length === 0)
        }
      }
    })
  }
})
