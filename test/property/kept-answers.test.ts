import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, mock, test } from 'node:test'
import { AnswerCache } from '../../src/service/dispatch/answer-cache.ts'
import { openService } from '../../src/service/open-service.ts'
import { seed } from '../support/seed.ts'
import { newFile } from '../support/sqlite.ts'
import { runBesideWriters } from './kept-answers/beside-writers.ts'
import { run } from './kept-answers/compare.ts'
import { faults } from './kept-answers/faults.ts'
import { type Any, config, fill, requestOf } from './kept-answers/models.ts'

/*
 * Questions that are asked again and again between random writes of several services and programs, in this process and in others:
 * a service that keeps answers says and tells the same as one that keeps nothing, to every requester.
 */

describe('answers that are kept', () => {
  test('are those of a service that keeps nothing, between writes of several processes', async (t) => {
    const { again, compared, events } = await run(20, seed)
    t.diagnostic(`KEELSON_TEST_SEED=${seed}: ${compared} answers compared, ${again} given again, ${events} events`)
    assert.ok(again > 300, `${again} answers were given again`)
    assert.ok(events > 20, `${events} events`)
  })

  test('are those of a service that keeps nothing, while other processes write', async (t) => {
    const { again, compared } = await runBesideWriters(60, seed)
    t.diagnostic(`KEELSON_TEST_SEED=${seed}: ${compared} answers compared, ${again} given again`)
    assert.ok(again > 0, 'no answer was given again')
    assert.ok(compared > 100, `${compared} answers were compared`)
  })

  for (const fault of faults)
    test(`differ where ${fault}`, async () => {
      await assert.rejects(run(40, 1, fault), { name: 'AssertionError', message: / after / })
    })

  test('differ while other processes write, where their writes are not seen', async () => {
    const run = runBesideWriters(60, 1, 'writes of other programs are not seen')
    await assert.rejects(run, { name: 'AssertionError' })
  })

  test('are not given again after any change of another program', async () => {
    /** What it executes, before or while it names the first city. */
    const programs: readonly (readonly [name: string, sql: string])[] = [
      ['of one row', ''],
      ['of another table in the same transaction', "update visit set note = 'y';"],
      ['of many rows', "update pet set name = 'y';".repeat(50)],
      ['that deletes the log', 'delete from keelson_log;'],
      [
        'that deletes the end of the log',
        'delete from keelson_log where seq > (select max(seq) - 2 from keelson_log);',
      ],
      ['that changes the schema', 'create table other (id integer);'],
      ['that no trigger writes to the log', 'drop trigger TRIGGER;'],
      ['again, without a change of the schema', "update visit set note = 'z';"],
    ]
    const path = newFile()
    await using service = await openService(config(path))
    using sql = new DatabaseSync(path)
    await fill(service)
    const firstName = async () => {
      const { body } = await service.handle(requestOf('/city?sort=id', { city: 'all' }))
      return (JSON.parse((body as Any).encoded) as Any[])[0].name
    }
    const updated =
      "select name from sqlite_schema where type = 'trigger' and tbl_name = 'city' and sql like '%after update%'"
    const trigger = sql.prepare(updated).get()?.name as string
    for (const [number, [name, program]] of programs.entries()) {
      const before = await firstName()
      for (let count = 0; count < 4; count++) assert.equal(await firstName(), before)
      const changes = `${program} update city set name = 'city ${number}' where id = 1`
      sql.exec(`begin; ${changes.replace('TRIGGER', `"${trigger}"`)}; commit`)
      assert.equal(await firstName(), `city ${number}`, name)
      sql.exec(`update city set name = 'later ${number}' where id = 1`)
      assert.equal(await firstName(), `later ${number}`, name)
    }
  })

  test('take no more memory than maxKeptBytes', async () => {
    const path = newFile()
    await using service = await openService({ ...config(path), limits: { maxKeptBytes: 20_000 } })
    await fill(service)
    const kept = (cache: AnswerCache) => cache.bytes
    const { mock: asked } = mock.method(AnswerCache.prototype, 'ask')
    for (let limit = 1; limit < 50; limit++)
      for (let count = 0; count < 4; count++) await service.handle(requestOf(`/owner?limit=${limit}`, { city: 'all' }))
    const cache = asked.calls.at(-1)?.this as AnswerCache
    assert.ok(kept(cache) > 0 && kept(cache) <= 20_000, `${kept(cache)} bytes`)
  })
})
