import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { LiveTestClient, type ReceivedFrame } from '../support/live-client.ts'
import { freshDatabase, missingPostgres, type OtherProgram, postgresForTests } from '../support/postgres.ts'

/* What a position promises while reads are under way. A read of a table waits while its gate is closed. */

const models = {
  x: { attributes: { name: { type: 'string' } } },
  y: { attributes: { name: { type: 'string' } } },
  a: { attributes: { name: { type: 'string' }, x: { model: 'x' } } },
  b: { attributes: { name: { type: 'string' }, y: { model: 'y' } } },
} as const

type Table = 'x' | 'y'
const gateNumbers: Readonly<Record<Table, number>> = { x: 1, y: 2 }

async function serve() {
  const server = await postgresForTests()
  const database = await freshDatabase(server.url)
  const service = await createService({ database: database.url, models })
  const { url } = await service.listen(0)
  await database.query(`create function gate(number int) returns boolean language plpgsql volatile as $$
    begin perform pg_advisory_lock_shared(number); perform pg_advisory_unlock_shared(number); return true; end $$`)
  for (const [table, number] of Object.entries(gateNumbers)) {
    await database.query(`alter table ${table} rename to ${table}_stored`)
    await database.query(`create view ${table} as select * from ${table}_stored where gate(${number})`)
  }
  const gates = new Map<Table, OtherProgram>()
  const close = async (table: Table) => {
    const gate = await database.connect()
    await gate.query('select pg_advisory_lock($1)', [gateNumbers[table]])
    gates.set(table, gate)
  }
  const open = (table: Table) => gates.get(table)?.query('select pg_advisory_unlock($1)', [gateNumbers[table]])
  /** Until so many reads wait at closed gates. */
  const waiting = (count: number) =>
    eventually(async () => {
      const found = await database.query(
        `select count(*) from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`,
      )
      return Number(found[0]?.[0]) === count
    })
  const write = async (method: string, path: string, body: object) => {
    const headers = { 'Content-Type': 'application/json' }
    const response = await fetch(url + path, { method, body: JSON.stringify(body), headers })
    assert.ok(response.ok, await response.text())
    return response.headers.get('keelson-operation') ?? assert.fail('no token')
  }
  return {
    service,
    url,
    close,
    open,
    waiting,
    write,
    async [Symbol.asyncDispose]() {
      for (const table of gates.keys()) await open(table)
      await service.close()
      await database[Symbol.asyncDispose]()
    },
  }
}

const told = (frames: readonly ReceivedFrame[]) =>
  frames.map(({ event, data }) => `${event} ${data.query ?? ''}`.trim())

describe('positions on postgres', { skip: missingPostgres ?? false }, () => {
  test('`seen` has none while another query lacks a later change', async () => {
    await using served = await serve()
    const { service, url, close, open, waiting, write } = served
    const { a, b, x, y } = service.system.records
    await x.create({ name: 'x' })
    await y.create({ name: 'y' })
    await a.create({ name: 'a1', x: 1 })
    await b.create({ name: 'b1', y: 1 })
    const B = { model: 'b', populate: ['y'] }
    await using client = await LiveTestClient.open(url, { A: { model: 'a', limit: 1, populate: ['x'] }, B })
    await client.until(() => client.held.size === 2)
    await close('x')
    await close('y')
    const token = await write('POST', '/a', { name: 'a2' })
    await waiting(1)
    await b.update(1, { name: 'changed' })
    await waiting(2)
    await open('x')
    await client.until(() => client.operations.has(token))
    const seen = client.frames.at(-1) as ReceivedFrame
    assert.deepEqual(told([seen]), ['seen'])
    assert.equal(seen.data.position, undefined)
    await open('y')
    await client.until(() => client.rows('B')?.[0]?.name === 'changed')
  })
})
