import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { changesAfter, SqliteForTest } from '../../../test/support/sqlite.ts'
import type { ModelDefinition } from '../../model/definition.ts'

/** 2^53 + 1, which no JavaScript number holds. */
const large = '9007199254740993'
const largest = '9223372036854775807'
const smallest = '-9223372036854775808'

const counter: ModelDefinition = {
  attributes: { exact: { type: 'bigint' }, whole: { type: 'number', isInteger: true }, flag: { type: 'boolean' } },
}

describe('integers beyond 2^53', () => {
  for (const number of [large, largest, smallest, '-1', '0']) {
    test(`${number} is exact in a bigint attribute: written, returned, found, sorted, logged`, async () => {
      await using sqlite = await SqliteForTest.open({ counter })
      const head = await sqlite.changes.head()
      await sqlite.create('counter', { exact: number })
      await sqlite.create('counter', { exact: '1' })
      const find = (query: string) => sqlite.ask('GET', `/counter?select=exact&${query}`).then(({ body }) => body)
      assert.deepEqual(await find(`exact=${number}`), [{ id: 1, exact: number }])
      assert.deepEqual(await find(`where={"exact":["${number}","7"]}`), [{ id: 1, exact: number }])
      const sorted = BigInt(number) < 1n ? [number, '1'] : ['1', number]
      assert.deepEqual(
        ((await find('sort=exact')) as { exact: string }[]).map(({ exact }) => exact),
        sorted,
      )
      const [created] = await changesAfter(sqlite.changes, head)
      assert.equal(created?.after?.exact, number)
    })
  }

  test('in a number attribute keep their digits in responses and do not affect other values', async () => {
    await using sqlite = await SqliteForTest.open({ counter })
    sqlite.otherProgram.exec(
      `insert into counter (whole, flag, exact) values (1, 1, 5), (${large}, 1, 5), (2, 0, null)`,
    )
    const response = await sqlite.service.fetch(new Request('http://localhost/counter'))
    assert.equal(
      await response.text(),
      `[{"id":1,"exact":"5","whole":1,"flag":true},{"id":2,"exact":"5","whole":${large},"flag":true},{"id":3,"exact":null,"whole":2,"flag":false}]`,
    )
    const { data } = await sqlite.service.system.records.counter!.find()
    assert.deepEqual(data[1], { id: 2, exact: '5', whole: Number(large), flag: true })
    assert.deepEqual(data[2], { id: 3, exact: null, whole: 2, flag: false })
  })

  /** Where the texts of most records are known, a page is read by its keys. */
  for (const [name, change] of [
    ['that a page is sorted by', `exact = ${largest}`],
    ['in a number attribute', `whole = ${largest}, exact = 100`],
  ] as const)
    test(`${name}: records are whole, also those of a page of which most are known`, async () => {
      await using sqlite = await SqliteForTest.open({ counter })
      const counters = sqlite.service.system.records.counter!
      for (let number = 1; number <= 12; number++) await counters.create({ exact: String(number), whole: number })
      const idsOf = async (query: string): Promise<readonly number[]> => {
        const response = await sqlite.service.fetch(new Request(`http://localhost/counter?${query}`))
        assert.equal(response.status, 200)
        return ((await response.json()) as { id: number }[]).map(({ id }) => id)
      }
      for (let time = 0; time < 20; time++) {
        await counters.update(1, { flag: time % 2 === 0 })
        await idsOf('limit=2')
        await idsOf('sort=exact')
      }
      sqlite.otherProgram.exec(`update counter set ${change} where id = 3`)
      // The change is counted before the next page is read.
      await counters.update(1, { flag: null })
      await idsOf('limit=2')
      assert.deepEqual(await idsOf('sort=exact'), [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 3])
    })

  test('are returned by a write, at the first and at the second time', async () => {
    await using sqlite = await SqliteForTest.open({ counter })
    sqlite.otherProgram.exec(`insert into counter (whole) values (${large}), (${large})`)
    for (const id of [1, 2]) {
      const { status, body } = await sqlite.ask('PATCH', `/counter/${id}`, { flag: true })
      assert.deepEqual([status, body], [200, { id, exact: null, whole: Number(large), flag: true }])
    }
    assert.deepEqual(sqlite.reported, [])
  })

  test('are returned by a write in a shared commit: each write is executed once', async () => {
    await using sqlite = await SqliteForTest.open({ counter })
    sqlite.otherProgram.exec(`insert into counter (whole) values (${large})`)
    const head = await sqlite.changes.head()
    await Promise.all([
      sqlite.create('counter', { exact: '1' }),
      sqlite.ask('PATCH', '/counter/1', { flag: true }),
      sqlite.create('counter', { exact: '2' }),
    ])
    const changes = await changesAfter(sqlite.changes, head)
    assert.deepEqual(changes.map(({ verb, id }) => `${verb} ${id}`).toSorted(), ['created 2', 'created 3', 'updated 1'])
  })

  const models = {
    owner: { attributes: { whole: { type: 'number', isInteger: true } } },
    pet: { attributes: { whole: { type: 'number', isInteger: true }, owner: { model: 'owner' } } },
  } as const
  for (const [place, statements] of [
    ['in one statement', `insert into owner values (1, 1); insert into pet values (1, ${large}, 1)`],
    ['in two statements', `insert into owner values (1, ${large}); insert into pet values (1, ${large}, 1)`],
  ] as const) {
    test(`are returned in an operation of several statements, ${place}`, async () => {
      await using sqlite = await SqliteForTest.open(models)
      sqlite.otherProgram.exec(statements)
      assert.equal((await sqlite.ask('DELETE', '/owner/1')).status, 200)
      assert.deepEqual(await sqlite.all('owner'), [])
      assert.deepEqual(await sqlite.all('pet'), [{ id: 1, whole: Number(large), owner: null }])
    })
  }

  test('as a generated bigint key', async () => {
    await using sqlite = await SqliteForTest.open({
      entry: { attributes: { id: { type: 'bigint', autoIncrement: true } } },
    })
    const head = await sqlite.changes.head()
    assert.deepEqual(await sqlite.create('entry', { id: large }), { id: large })
    assert.deepEqual(await sqlite.create('entry', {}), { id: '9007199254740994' })
    assert.deepEqual((await sqlite.ask('GET', `/entry/${large}`)).body, { id: large })
    const changes = await changesAfter(sqlite.changes, head)
    assert.deepEqual(
      changes.map(({ id }) => id),
      [large, '9007199254740994'],
    )
  })
})
