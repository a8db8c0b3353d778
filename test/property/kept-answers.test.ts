import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, mock, test } from 'node:test'
import { AnswerCache } from '../../src/service/dispatch/answer-cache.ts'
import { openService } from '../../src/service/open-service.ts'
import { seed } from '../support/seed.ts'
import { asOtherProgram, newFile } from '../support/sqlite.ts'
import { runBesideWriters } from './kept-answers/beside-writers.ts'
import { run } from './kept-answers/compare.ts'
import { faults } from './kept-answers/faults.ts'
import { type Any, config, fill, requestOf } from './kept-answers/models.ts'
import { countRepeated } from './kept-answers/repeated.ts'

/*
 * Questions that are asked again and again between random writes of several services and programs, in this process and in others:
 * a service that keeps answers says and tells the same as one that keeps nothing, to every requester.
 */

/** With a model whose table another program has made, where letter case makes no difference to a key. */
const withBoxes = (path: string) => {
  const box = { attributes: { createdAt: false, updatedAt: false, id: { type: 'string' }, name: { type: 'string' } } }
  const { models, ...rest } = config(path)
  return { ...rest, models: { ...models, box: { ...box, access: 'public' } } }
}

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
    // Hundreds, or some tens on a machine that is busy.
    assert.ok(compared > 10, `${compared} answers were compared`)
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

  test('are not given again after any change of the record, by its key or by another one', async () => {
    const path = newFile()
    asOtherProgram(
      path,
      "create table box (id text primary key collate nocase, name text); insert into box values ('a', 'first')",
    )
    await using service = await openService(withBoxes(path))
    using sql = new DatabaseSync(path)
    await fill(service)
    sql.exec("pragma foreign_keys = off; insert into chip values (1, 'one'), (2, 'two')")
    const answered = async (question: string) => {
      const { status, body } = await service.handle(requestOf(question, { city: 'all' }))
      return status === 200 ? Object.values(JSON.parse((body as Any).encoded)).join(' ') : status
    }
    /** What other programs execute, and what the question is answered with after it. */
    const changes: readonly (readonly [name: string, sql: string, question: string, answer: unknown])[] = [
      ['an update', "update chip set code = 'uno' where id = 1", '/chip/1', '1 uno'],
      ['an update of its key', 'update city set id = 50 where id = 1', '/city/1', 404],
      ['another record gets its key', 'update city set id = 1 where id = 3', '/city/1', '1 c'],
      ['it is replaced', "insert or replace into city (id, name) values (1, 'new')", '/city/1', '1 new'],
      ['another key is moved to it', "update or replace city set id = 1, name = 'x' where id = 2", '/city/1', '1 x'],
      ['it is replaced by another', "insert or replace into chip (id, code) values (9, 'uno')", '/chip/1', 404],
      ['it is replaced by an update', "update or replace chip set code = 'uno' where id = 2", '/chip/9', 404],
      ['letter case', "update box set name = 'second' where id = 'a'", '/box/A', 'a second'],
      ['it is destroyed', 'delete from chip where id = 2', '/chip/2', 404],
      ['its log is deleted', "update city set name = 'y'; delete from keelson_log", '/city/1', '1 y'],
      ['many rows', "update city set name = 'z';".repeat(300), '/city/1', '1 z'],
    ]
    for (const [name, text, question, answer] of changes) {
      const before = await answered(question)
      for (let count = 0; count < 3; count++) assert.equal(await answered(question), before)
      sql.exec(`begin; ${text}; commit`)
      assert.equal(await answered(question), answer, name)
    }
  })

  test('of a record are given again after changes of others', async () => {
    const path = newFile()
    await using service = await openService(config(path))
    using repeated = countRepeated()
    using sql = new DatabaseSync(path)
    await fill(service)
    const ask = () => service.handle(requestOf('/city/1', { city: 'all' }))
    await ask()
    for (let count = 0; count < 5; count++) {
      sql.exec(`update city set name = 'other ${count}' where id = 2`)
      await ask()
    }
    assert.equal(repeated.count, 5)
  })

  test('of a list are given again from the third request on, also without parameters', async () => {
    await using service = await openService(config(newFile()))
    using repeated = countRepeated()
    await fill(service)
    for (const list of ['/city?limit=2', '/city', '/city/find']) {
      const before = repeated.count
      for (let count = 0; count < 5; count++) await service.handle(requestOf(list, { city: 'all' }))
      assert.equal(repeated.count - before, 3, list)
    }
  })

  test('of a page of all records are given again after changes of records that are not on it', async () => {
    const path = newFile()
    await using service = await openService(config(path))
    using repeated = countRepeated()
    using sql = new DatabaseSync(path)
    await fill(service)
    const ask = async (query: string) => {
      const before = repeated.count
      const { body } = await service.handle(requestOf(query, { city: 'all' }))
      return `${repeated.count > before ? 'again' : 'read'} ${(JSON.parse((body as Any).encoded) as Any[]).map(({ name }) => name).join()}`
    }
    const lists = ['/city?limit=2', '/city?sort=id DESC&limit=2', '/city?sort=name&limit=2', '/city?name=a']
    const told = async () => {
      const answers: string[] = []
      for (const list of lists) answers.push(await ask(list))
      return answers
    }
    for (let count = 0; count < 3; count++) await told()
    /** What another program executes, and what is answered then. */
    const changes: readonly (readonly [sql: string, answers: readonly string[]])[] = [
      ["update city set name = 'z' where id = 3", ['again a,b', 'read z,b', 'read a,b', 'read a']],
      ["update city set name = 'y' where id = 1", ['read y,b', 'again z,b', 'read b,y', 'read ']],
      ["insert into city (name) values ('a')", ['read y,b', 'read a,z', 'read a,b', 'read a']],
      ['update city set id = 0 where id = 4', ['read a,y', 'read z,b', 'read a,b', 'read a']],
      ['delete from city where id = 0', ['read y,b', 'read z,b', 'read b,y', 'read ']],
      ["insert or replace into city (id, name) values (-1, 'x')", ['read x,y', 'read z,b', 'read b,x', 'read ']],
    ]
    for (const [text, answers] of changes) {
      sql.exec(text)
      assert.deepEqual(await told(), answers, text)
    }
  })

  test('of a record are kept for many requesters with rules of their own', async () => {
    const path = newFile()
    await using service = await openService(config(path))
    using repeated = countRepeated()
    await fill(service)
    for (let round = 0; round < 2; round++)
      for (let age = 1; age <= 40; age++) await service.handle(requestOf('/owner/1', { city: 'all', age } as Any))
    assert.equal(repeated.count, 40)
  })

  test('take no more memory than maxKeptBytes', async () => {
    const path = newFile()
    await using service = await openService({ ...config(path), limits: { maxKeptBytes: 40_000 } })
    await fill(service)
    // Texts of records take the other half.
    const kept = (cache: AnswerCache) => cache.bytes
    const { mock: lookups } = mock.method(AnswerCache.prototype, 'lookup')
    for (let limit = 1; limit < 50; limit++)
      for (let count = 0; count < 4; count++) await service.handle(requestOf(`/owner?limit=${limit}`, { city: 'all' }))
    const cache = lookups.calls.at(-1)?.this as AnswerCache
    assert.ok(kept(cache) > 0 && kept(cache) <= 20_000, `${kept(cache)} bytes`)
  })
})
