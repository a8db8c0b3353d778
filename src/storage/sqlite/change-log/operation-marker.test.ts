import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Connection } from '../client/connection.ts'
import { logSchema } from './change-log.ts'
import { OperationMarker } from './operation-marker.ts'

function open(t: TestContext): Connection {
  const connection = new Connection(':memory:', { readOnly: false })
  t.after(() => connection[Symbol.dispose]())
  for (const statement of logSchema) connection.exec(statement)
  return connection
}

const changes = (count: number): string =>
  `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})
   insert into keelson_log (model, verb, id, after) select 'pet', 'created', i, hex(zeroblob(100)) from n`

const operations = (connection: Connection) => connection.all('select * from keelson_operation order by first', [])

test('an operation of many rows is marked by one row, and the rows are not written again', (t) => {
  const connection = open(t)
  const marker = new OperationMarker(connection)
  connection.exec(changes(5_000))
  const before = connection.all('select total_changes()', [])[0]?.[0] as number
  assert.equal(marker.end(0, 'client'), 5_000)
  assert.equal(connection.all('select total_changes()', [])[0]?.[0], before + 1)
  assert.deepEqual(operations(connection), [[1, 5_000, 'client']])
})

test('a single row is marked only where it has an origin', (t) => {
  const connection = open(t)
  const marker = new OperationMarker(connection)
  connection.exec(changes(1))
  assert.equal(marker.end(0, undefined), 1)
  connection.exec(changes(1))
  assert.equal(marker.end(1, 'client'), 2)
  assert.equal(marker.end(2, 'client'), 2)
  assert.deepEqual(operations(connection), [[2, 2, 'client']])
})

test('a receipt has the number of the operation: that of its first row', (t) => {
  const connection = open(t)
  const marker = new OperationMarker(connection)
  connection.exec(changes(3))
  const receipt = { origin: undefined, operation: undefined }
  marker.begin(1, receipt)
  marker.end(1, receipt)
  assert.equal(receipt.operation, '2')
  assert.deepEqual(operations(connection), [[2, 3, null]])
})
