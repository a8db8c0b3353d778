import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { Connection } from '../client/connection.ts'
import { TableSize } from '../table-slices.ts'
import { logSchema } from './change-log.ts'
import { growingLog } from './log-slice.ts'
import { lastToTrim } from './trim.ts'

/** Rows of the log are examined a few at a time where they are large, as one statement cannot be interrupted. */
function open(t: TestContext, count: number, bytes: number): Connection {
  const connection = new Connection(':memory:', { readOnly: false })
  t.after(() => connection[Symbol.dispose]())
  for (const statement of logSchema) connection.exec(statement)
  connection.exec(
    `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})
     insert into keelson_log (model, verb, id, after) select 'pet', 'created', i, hex(zeroblob(${bytes / 2})) from n`,
  )
  return connection
}

for (const [what, count, bytes, most] of [
  ['large', 30, 1_000_000, 3],
  ['small', 5_000, 100, 2_000],
] as const) {
  describe(`${what} rows of the log`, () => {
    test(`are looked through ${most} at a time for what is old`, async (t) => {
      const connection = open(t, count, bytes)
      const examined: number[] = []
      const read = async (text: string, values: readonly unknown[] = []) => {
        if (text.includes('at < ?')) examined.push(Number(values[1]) - Number(values[0]))
        return connection.all(text, values)
      }
      const keep = { ageMs: -1_000, rows: 1e9 }
      assert.equal(
        await lastToTrim(read, keep, { floor: 0, size: new TableSize(read, growingLog), seqOf: () => undefined }),
        count,
      )
      assert.equal(Math.max(...examined), most)
    })
  })
}
