import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { newFile, SqliteForTest } from '../../test/support/sqlite.ts'
import { defaultLimits } from '../support/limits.ts'
import { ChangeNotifier } from './change-notifier.ts'
import { DatabaseError } from './driver.ts'
import { FullDiskReport } from './full-disk-report.ts'
import { postgresError } from './postgres/errors.ts'
import { SqliteDriver } from './sqlite/client/driver.ts'

const models = { pet: { attributes: { name: { type: 'string' } } } } as const

describe('a full disk', () => {
  test('writes get 503 with Retry-After, reads are answered, and the log gets one line', async () => {
    await using sqlite = await SqliteForTest.open(models)
    await sqlite.create('pet', { name: 'Rex' })
    // After the largest key, SQLite answers inserts with the code of a full disk.
    sqlite.otherProgram.exec('insert into pet (id) values (9223372036854775807)')
    const post = (path: string, body: object) =>
      sqlite.service.fetch(
        new Request(`http://localhost${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      )
    const responses = await Promise.all(Array.from({ length: 20 }, () => post('/pet', { name: 'Tom' })))
    for (const response of responses) {
      const { code, detail } = (await response.json()) as { code: string; detail: string }
      assert.deepEqual(
        [response.status, response.headers.get('Retry-After'), code, detail],
        [503, '10', 'E_UNAVAILABLE', 'The database has no space left'],
      )
    }
    assert.equal((await sqlite.ask('GET', '/pet/1')).status, 200)
    assert.deepEqual(
      sqlite.reported.map((error) => (error as Error).message),
      ['The disk of the database is full (database or disk is full); writes get 503 until there is space'],
    )
  })

  test('SQLite continues when there is space again, and keeps what was acknowledged', async () => {
    const driver = new SqliteDriver({ path: newFile(), limits: defaultLimits, notifier: new ChangeNotifier() })
    await driver.prepare()
    driver.setup.exec('create table note (text text); pragma max_page_count = 12')
    const write = (size: number) =>
      driver.write('insert into note values (?) returning 1', ['x'.repeat(size)], undefined)
    const count = async () => (await driver.query('select count(*) from note', []))[0]?.[0]
    await write(10)
    const large = Array.from({ length: 5 }, () => write(20_000))
    const settled = await Promise.allSettled([write(10), ...large, write(10)])
    const failed = settled.filter((result) => result.status === 'rejected')
    assert.ok(failed.length > 0 && failed.length < settled.length, `${failed.length} writes were refused`)
    for (const { reason } of failed) assert.equal((reason as DatabaseError).reason.kind, 'full')
    assert.equal(await count(), 1 + settled.length - failed.length)
    driver.setup.exec('pragma max_page_count = 1000')
    await write(20_000)
    assert.equal(await count(), 2 + settled.length - failed.length)
    await driver[Symbol.asyncDispose]()
  })

  test('errors of PostgreSQL that are about its resources may pass', () => {
    const kindOf = (code: string) =>
      postgresError(Object.assign(new Error('x'), { severity: 'ERROR', code })).reason.kind
    assert.deepEqual(['53000', '53100', '53200', '53300', '53400'].map(kindOf), [
      'busy',
      'full',
      'busy',
      'busy',
      'busy',
    ])
  })

  test('is reported again when it fills up later', () => {
    let now = 0
    const reported: unknown[] = []
    const report = new FullDiskReport(
      (error) => reported.push(error),
      () => now,
    )
    for (const [at, count] of [
      [0, 1],
      [59_000, 1],
      [118_000, 1],
      [240_000, 2],
    ] as const) {
      now = at
      report.see(new DatabaseError({ kind: 'full' }, 'full'))
      report.see(new DatabaseError({ kind: 'full' }, 'full'))
      report.see(new DatabaseError({ kind: 'busy' }, 'busy'))
      assert.equal(reported.length, count, `at ${at} ms`)
    }
    assert.doesNotMatch(inspect(reported[0]), /\n/, 'it is one line of the log')
  })
})
