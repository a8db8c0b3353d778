import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually } from '../../../../test/support/eventually.ts'
import type { FreshDatabase } from '../../../../test/support/postgres.ts'
import { byKey, increment, kindOf, statement, testPostgresDriver } from '../../../../test/support/postgres-driver.ts'

testPostgresDriver((open, isPooled) => {
  describe('lost connections', () => {
    const terminate = (database: FreshDatabase) =>
      database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'keelson'`,
      )

    test('that were idle cause no error', async () => {
      await using given = await open()
      const { driver, database, network } = given
      for (const end of [() => terminate(database), async () => network.cut()]) {
        await Promise.all([
          driver.query(byKey, ['1']),
          driver.read({ text: byKey, values: ['1'], access: 'filter' }),
          driver.write(increment, ['1'], undefined),
          driver.transaction((query) => query(increment, ['1']), undefined),
          driver.snapshot(({ read }) => read(statement(byKey, ['1']))),
        ])
        // One on which a plan is asked for may still be opened.
        const areEnded = async () => {
          await end()
          return network.connections === 0 || undefined
        }
        await eventually(areEnded, 'all have ended')
        await driver.query(byKey, ['1'])
        await driver.read({ text: byKey, values: ['1'], access: 'filter' })
        await driver.write(increment, ['1'], undefined)
        await driver.transaction((query) => query(increment, ['1']), undefined)
        await driver.snapshot(({ read }) => read(statement(byKey, ['1'])))
      }
      assert.deepEqual(await driver.query(byKey, ['1']), [['1', '8']])
    })

    test('that are detected at their next use are replaced', async () => {
      await using given = await open()
      const { driver, network } = given
      const all = () => [
        driver.query(byKey, ['1']),
        driver.read({ text: byKey, values: ['1'], access: 'filter' }),
        driver.transaction((query) => query(byKey, ['1']), undefined),
        driver.snapshot(({ read }) => read(statement(byKey, ['1']))),
      ]
      for (let round = 0; round < 3; round++) {
        await Promise.all([all(), all(), all()].flat())
        network.cut()
        const found = await Promise.all(all())
        for (const rows of found) assert.deepEqual(rows, [['1', '0']])
      }
    })

    test('a pending read is repeated; a write is not', async () => {
      await using given = await open()
      const { driver, database } = given
      const sleep = 'pg_sleep(2) is not null'
      const reads = [
        driver.query(`${byKey} and ${sleep}`, ['1']),
        driver.read({ text: `${byKey} and ${sleep}`, values: ['2'], access: 'filter' }),
      ]
      const slowIncrement = `update t set n = n + 1 where id = $1::int8 and ${sleep}`
      const writes = Promise.allSettled([
        driver.write(slowIncrement, ['1'], undefined),
        driver.transaction((query) => query(slowIncrement, ['2']), undefined),
      ])
      // Longer than the limits of pipelined connections: what still runs is in a pool.
      const running = `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'
        and clock_timestamp() - query_start > interval '300 milliseconds'`
      await eventually(async () => (await database.query(running)).length === 4 || undefined, 'all are under way')
      await terminate(database)
      for (const outcome of await writes) {
        assert.ok(outcome.status === 'rejected' && kindOf('lost')(outcome.reason))
      }
      assert.deepEqual(await Promise.all(reads), [[['1', '0']], [['2', '0']]])
    })

    test('a read that waits for a lock is repeated', async () => {
      await using given = await open()
      const { driver, database } = given
      const otherProgram = await database.connect()
      await otherProgram.query('begin; lock table t in access exclusive mode')
      const reads = [driver.query(byKey, ['1']), driver.read({ text: byKey, values: ['2'], access: 'filter' })]
      const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and clock_timestamp() - query_start > interval '100 milliseconds'`
      await eventually(async () => (await database.query(waiting)).length > 0 || undefined, 'one waits')
      await terminate(database)
      await otherProgram.query('rollback')
      assert.deepEqual(await Promise.all(reads), [[['1', '0']], [['2', '0']]])
    })

    test('while the server is down every request fails, and afterwards all succeed', async () => {
      await using given = await open()
      const { driver, network } = given
      await driver.query(byKey, ['1'])
      await network.close()
      for (let round = 0; round < 3; round++) {
        const all = await Promise.allSettled([
          ...Array.from({ length: 20 }, () => driver.query(byKey, ['1'])),
          driver.read({ text: byKey, values: ['1'], access: 'filter' }),
          driver.write(increment, ['1'], undefined),
          driver.transaction((query) => query(increment, ['1']), undefined),
          driver.snapshot(({ read }) => read(statement(byKey, ['1']))),
        ])
        for (const outcome of all) assert.ok(outcome.status === 'rejected' && kindOf('lost')(outcome.reason))
      }
      await network.open()
      const works = (work: () => Promise<unknown>) =>
        eventually(
          () =>
            work().then(
              () => true,
              () => undefined,
            ),
          'it works again',
        )
      await works(() => driver.query(byKey, ['1']))
      await works(() => driver.write(increment, ['1'], undefined))
      await works(() => driver.transaction((query) => query(increment, ['1']), undefined))
      assert.deepEqual(await driver.read({ text: byKey, values: ['1'], access: 'filter' }), [['1', '2']])
    })

    test('a silent network connection is destroyed', async () => {
      await using given = await open({ statementTimeoutMs: 100 }, { watchdogTiming: { checkMs: 50, graceMs: 200 } })
      const { driver, network } = given
      await driver.query(byKey, ['1'])
      network.swallow()
      assert.deepEqual(await driver.query(byKey, ['1']), [['1', '0']], 'asked again over another connection')
    })

    test('a read that is not answered is sent again long before a statement may have ended', {
      timeout: 30_000,
    }, async (t) => {
      if (isPooled) return t.skip('a statement may wait in the pooler')
      await using given = await open({ statementTimeoutMs: 60_000 }, { watchdogTiming: { checkMs: 50, graceMs: 200 } })
      const { driver, network } = given
      const read = { text: byKey, values: ['1'], access: 'key' } as const
      await driver.read(read)
      network.swallow()
      assert.deepEqual(await driver.read(read), [['1', '0']])
    })

    test('close() awaits queries that were just sent', async () => {
      await using given = await open()
      const { driver } = given
      const asked = [
        driver.query(byKey, ['1']),
        driver.read({ text: byKey, values: ['1'], access: 'filter' }),
        driver.write(`${increment}, 1`, ['1'], undefined),
        driver.transaction((query) => query(byKey, ['2']), undefined),
        driver.snapshot(({ read }) => read(statement(byKey, ['3']))),
      ]
      await driver[Symbol.asyncDispose]()
      assert.equal((await Promise.all(asked)).length, 5)
    })

    test('close() awaits pending queries and rejects later ones', async () => {
      await using given = await open()
      const { driver, network } = given
      const last = [
        driver.query('select pg_sleep(0.02), 1', []),
        driver.write('update t set n = 5 where id = 1 and pg_sleep(0.1) is not null returning n', [], undefined),
        driver.transaction(async (query) => {
          await query(increment, ['2'])
          await new Promise((resolve) => setTimeout(resolve, 100))
          return query(increment, ['2'])
        }, undefined),
      ]
      await eventually(() => network.connections >= 3 || undefined, 'all are under way')
      await driver[Symbol.asyncDispose]()
      assert.deepEqual(
        (await Promise.all(last)).map(([row]) => row?.at(-1)),
        ['1', '5', '2'],
      )
      await assert.rejects(driver.query(byKey, ['1']), kindOf('lost'))
      await assert.rejects(
        driver.transaction((query) => query(increment, ['1']), undefined),
        kindOf('lost'),
      )
      await eventually(() => network.connections === 0 || undefined, 'all have ended')
    })

    test('close() ends statements that would outlast a tenth of stopTimeoutMs', async () => {
      await using given = await open({ stopTimeoutMs: 1_000 })
      const { driver, network } = given
      const last = driver.transaction(async (query) => query('select pg_sleep(8)', []), undefined)
      const refused = assert.rejects(last, kindOf('lost'))
      await eventually(() => network.connections > 0 || undefined, 'it is under way')
      await driver[Symbol.asyncDispose]()
      await refused
    })
  })
})
