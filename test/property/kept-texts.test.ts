import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, mock, test } from 'node:test'
import { openService } from '../../src/service/open-service.ts'
import { EmbeddedTexts } from '../../src/storage/embedded-texts.ts'
import { RecordTexts } from '../../src/storage/record-texts.ts'
import { EventLoopTurn } from '../../src/support/event-loop-turn.ts'
import { seed } from '../support/seed.ts'
import { newFile } from '../support/sqlite.ts'
import { runBesideWriters } from './kept-answers/beside-writers.ts'
import { run } from './kept-answers/compare.ts'
import { type Any, config, fill, requestAnew } from './kept-answers/models.ts'
import { countPagesOfTexts, textFaults, whenCounted } from './kept-answers/text-faults.ts'

/*
 * As the test of answers that are kept, with addresses that are always new: no answer is given again, and pages are made of texts of
 * records that were encoded for earlier ones.
 */

describe('pages of texts that are kept', () => {
  test('are those of a service that keeps nothing, between writes of several processes', async (t) => {
    using pages = countPagesOfTexts()
    const { again, compared } = await run(20, seed, undefined, requestAnew)
    t.diagnostic(`KEELSON_TEST_SEED=${seed}: ${compared} answers compared, ${pages.count} pages of texts`)
    assert.equal(again, 0)
    assert.ok(pages.count > 300, `${pages.count} pages of texts`)
  })

  test('are those of a service that keeps nothing, while other processes write', async (t) => {
    using pages = countPagesOfTexts()
    const { compared } = await runBesideWriters(60, seed, undefined, requestAnew)
    t.diagnostic(`KEELSON_TEST_SEED=${seed}: ${compared} answers compared, ${pages.count} pages of texts`)
    assert.ok(pages.count > 0, 'no page was made of texts')
  })

  for (const fault of textFaults)
    test(`differ where ${fault}`, async () => {
      await assert.rejects(run(40, 1, fault, requestAnew), { name: 'AssertionError', message: / after / })
    })

  /** A pet gets the name that is asked for, after changes were counted. What is answered with its name. */
  async function namesWhile(isOneState: boolean): Promise<readonly unknown[]> {
    const path = newFile()
    await using service = await openService({ ...config(path), limits: { maxBlockMs: 10_000 } })
    using sql = new DatabaseSync(path)
    using pages = countPagesOfTexts()
    await fill(service)
    const ask = async (query: string) => {
      const { body } = await service.handle(requestAnew(`/pet?populate=false&${query}`, { city: 'all' }))
      return (JSON.parse((body as Any).encoded) as Any[]).map(({ name }) => name)
    }
    for (let count = 0; count < 10; count++) await ask('limit=9')
    for (let count = 0; count < 10; count++) await ask('name=a')
    const before = pages.count
    const { mock } = whenCounted(() => sql.exec("update pet set name = 'a' where id = 2"), isOneState)
    const names = await ask('name=a')
    mock.restore()
    assert.equal(pages.count, before + 1)
    return names
  }

  test('are of one state, also where another program commits while they are read', async () => {
    assert.deepEqual(await namesWhile(true), ['a', 'a'])
    assert.deepEqual(await namesWhile(false), ['a', 'b', 'a'])
  })

  test('are answered in a later turn, where the turn of the event loop is used', async (t) => {
    await using service = await openService({ ...config(newFile()), limits: { maxBlockMs: 10_000 } })
    using pages = countPagesOfTexts()
    let isUsed = false
    t.mock.getter(EventLoopTurn.prototype, 'isUsed', () => isUsed)
    await fill(service)
    const ask = () => service.handle(requestAnew('/city?limit=9', { city: 'all' }))
    for (let count = 0; count < 10; count++) await ask()
    const before = pages.count
    isUsed = true
    const answer = ask()
    isUsed = false
    assert.equal(pages.count, before)
    assert.equal((await answer).status, 200)
    assert.equal(pages.count, before + 1)
  })

  test('are not made of what is too large to be encoded in one turn of the event loop', async (t) => {
    await using service = await openService(config(newFile()))
    await fill(service)
    const { toy } = Object.fromEntries(service.records) as Any
    const { mock: embedded } = t.mock.method(EmbeddedTexts.prototype, 'read')
    const ask = async () => {
      const { body } = await service.handle(requestAnew('/pet?populate=toys', { city: 'all' }))
      return [embedded.calls.at(-1)?.result !== undefined, JSON.parse((body as Any).encoded)[0].toys[0].name.length]
    }
    assert.deepEqual(await ask(), [true, 1])
    for (const id of [1, 2]) await toy.update(id, { name: 'x'.repeat(300_000) })
    assert.deepEqual(await ask(), [false, 300_000])
    for (const id of [1, 2]) await toy.update(id, { name: 'y' })
    assert.deepEqual(await ask(), [true, 1])
  })

  test('take no more memory than maxKeptBytes', async () => {
    const { mock: kept } = mock.method(RecordTexts.prototype, 'set')
    await using service = await openService({ ...config(newFile()), limits: { maxKeptBytes: 20_000 } })
    await fill(service)
    for (let id = 0; id < 400; id++) await (Object.fromEntries(service.records) as Any).city.create({ name: `${id}` })
    for (let from = 0; from < 400; from += 10)
      await service.handle(requestAnew(`/city?where={"id":{">":${from}}}&limit=${1 + (from % 7)}`, { city: 'all' }))
    const texts = kept.calls.at(-1)?.this as RecordTexts
    assert.ok(texts.bytes > 0 && texts.bytes <= 10_000, `${texts.bytes} bytes`)
  })
})
