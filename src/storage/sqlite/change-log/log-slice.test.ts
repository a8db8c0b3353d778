import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { Connection } from '../client/connection.ts'
import { logSchema } from './change-log.ts'
import { lastToTrim } from './last-to-trim.ts'
import { OperationMarker } from './operation-marker.ts'

/** Rows of the log are examined and marked a few at a time where they are large, as one statement cannot be interrupted. */
class WatchedConnection extends Connection {
  readonly ranges: [text: string, rows: number][] = []

  override all(text: string, values: readonly unknown[]) {
    const [from, to] = values.filter((value) => typeof value === 'number').slice(-2) as [number, number]
    this.ranges.push([text.slice(0, 6), to - from])
    return super.all(text, values)
  }
}

function open(t: TestContext, count: number, bytes: number): WatchedConnection {
  const connection = new WatchedConnection(':memory:', { readOnly: false })
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
    test(`are marked ${most} at a time`, async (t) => {
      const connection = open(t, count, bytes)
      assert.equal(await new OperationMarker(connection).end(0, 'client'), count)
      const marked = connection.ranges.filter(([verb]) => verb === 'update').map(([, rows]) => rows)
      assert.equal(Math.max(...marked), most)
      assert.deepEqual(connection.all('select count(*), min(operation), max(operation) from keelson_log', []), [
        [count, 1, 1],
      ])
    })

    test(`are looked through ${most} at a time for what is old`, async (t) => {
      const connection = open(t, count, bytes)
      const examined: number[] = []
      const read = async (text: string, values: readonly unknown[] = []) => {
        if (text.includes('at < ?')) examined.push(Number(values[1]) - Number(values[0]))
        return connection.all(text, values)
      }
      const keep = { ageMs: -1_000, rows: 1e9 }
      assert.equal(await lastToTrim(read, keep, 0, () => undefined), count)
      assert.equal(Math.max(...examined), most)
    })
  })
}
