import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { newFile, SqliteForTest, strangely } from '../../../test/sqlite.ts'
import { defaultLimits } from '../../support/limits.ts'
import { DatabaseError } from '../driver.ts'
import { Wake } from '../wake.ts'
import { SqliteDriver } from './driver.ts'

async function open(t: TestContext, path: string, limits = {}): Promise<SqliteDriver> {
  const driver = new SqliteDriver(path, { ...defaultLimits, ...limits }, new Wake())
  t.after(() => driver[Symbol.asyncDispose]())
  await driver.prepare()
  return driver
}

const insert = 'insert into pet (name) values (?)'
const names = async (driver: SqliteDriver) =>
  (await driver.read('select name from pet order by id', [], 'short')).map(([name]) => name)

for (const place of ['a file', 'memory']) {
  describe(`reads see only what is committed, in ${place}`, () => {
    const opened = async (t: TestContext) => {
      const driver = await open(t, place === 'memory' ? ':memory:' : newFile())
      driver.setup.exec('create table pet (id integer primary key, name text)')
      return driver
    }

    test('while an operation is under way', async (t) => {
      const driver = await opened(t)
      await driver.write(insert, ['before'], undefined)
      const gate = Promise.withResolvers<void>()
      const inside = Promise.withResolvers<void>()
      const operation = driver.transaction(async (query) => {
        query(insert, ['half'])
        inside.resolve()
        await gate.promise
        query(insert, ['whole'])
      }, undefined)
      await inside.promise
      const seen = names(driver)
      gate.resolve()
      // In memory there is one connection only, and the answer waits for the end of the operation.
      assert.deepEqual(await seen, place === 'memory' ? ['before', 'half', 'whole'] : ['before'])
      await operation
      assert.deepEqual(await names(driver), ['before', 'half', 'whole'])
    })

    test('while an operation is under way that fails', async (t) => {
      const driver = await opened(t)
      const gate = Promise.withResolvers<void>()
      const inside = Promise.withResolvers<void>()
      const operation = driver.transaction(async (query) => {
        query(insert, ['half'])
        inside.resolve()
        await gate.promise
        throw new Error('no')
      }, undefined)
      await inside.promise
      const seen = names(driver)
      gate.resolve()
      await assert.rejects(operation)
      assert.deepEqual(await seen, [])
    })
  })
}

/** Another program that begins to read again as soon as it has read. */
function overlappingReader(t: TestContext, path: string, afterMs: number): { reads: number } {
  const stranger = new DatabaseSync(path)
  const reader = { reads: 0 }
  const read = () => {
    if (reader.reads++ > 0) stranger.exec('commit')
    stranger.exec('begin; select count(*) from pet')
  }
  let timer: NodeJS.Timeout | undefined
  const start = setTimeout(() => {
    timer = setInterval(read, 20)
  }, afterMs)
  t.after(() => {
    clearTimeout(start)
    clearInterval(timer)
    stranger.close()
  })
  return reader
}

describe('the write-ahead log', () => {
  const filled = async (t: TestContext) => {
    const path = newFile()
    const driver = await open(t, path)
    driver.setup.exec('create table pet (id integer primary key, name text)')
    // Pages that stay the same are not written, so each value is another.
    const write = (id: number, number: number) =>
      driver.write(
        'insert or replace into pet values (?, ?) returning id',
        [id, String.fromCharCode(97 + (number % 26)).repeat(200_000)],
        undefined,
      )
    return { path, write }
  }

  test('is folded into the file by another thread when it has grown', async (t) => {
    const { path, write } = await filled(t)
    const sizeBefore = statSync(path).size
    for (let commits = 0; commits < 70; commits++) await write(commits, commits)
    assert.ok(statSync(`${path}-wal`).size > 10_000_000)
    // Far from where SQLite would begin by itself.
    for (let looks = 0; statSync(path).size === sizeBefore; looks++) {
      assert.ok(looks < 500, 'nothing of it came into the file')
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  })

  test('stays bounded, however much is written without a pause', async (t) => {
    const { path, write } = await filled(t)
    let largest = 0
    for (let commits = 0; commits < 600; commits++) {
      await write(1, commits)
      largest = Math.max(largest, statSync(`${path}-wal`).size)
    }
    // 120 MB were written. While there is no pause it begins anew only where the writer itself sees to it, at 64 MB.
    assert.ok(largest < 80_000_000, `it grew to ${largest} bytes`)
  })

  test('stays bounded, though other programs are always reading', async (t) => {
    const { path, write } = await filled(t)
    const readers = [0, 10].map((afterMs) => overlappingReader(t, path, afterMs))
    let largest = 0
    for (let commits = 0; commits < 1500; commits++) {
      await write(1, commits)
      largest = Math.max(largest, statSync(`${path}-wal`).size)
    }
    for (const reader of readers) assert.ok(reader.reads > 1)
    // 300 MB were written.
    assert.ok(largest < 200_000_000, `it grew to ${largest} bytes`)
  })
})

describe('reads that take long', () => {
  const slow = 'select count(*) from pet a, pet b where a.name || b.name like ?'
  const filled = async (t: TestContext, limits = {}) => {
    const path = newFile()
    const numbers = 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 3000) select i, i from n'
    strangely(path, `create table pet (id integer primary key, name text); insert into pet ${numbers}`)
    return open(t, path, limits)
  }

  test('hold up neither other reads nor writes', async (t) => {
    const driver = await filled(t)
    const order: string[] = []
    const long = Promise.resolve(driver.read(slow, ['%x%'], 'long')).then(() => order.push('long'))
    for (let round = 0; round < 5; round++) {
      await driver.write(insert, ['new'], undefined)
      await driver.read('select name from pet where id = ?', [1], 'short')
      order.push('short')
    }
    await long
    assert.deepEqual(order, ['short', 'short', 'short', 'short', 'short', 'long'])
  })

  test('too long are given up, and the next one is answered', async (t) => {
    const driver = await filled(t, { statementTimeoutMs: 100 })
    await assert.rejects(
      Promise.resolve(driver.read(slow, ['%x%'], 'long')),
      (error) => error instanceof DatabaseError && error.fault.kind === 'timeout',
    )
    // On a machine that is busy the new thread may come too late as well; it comes.
    for (let tries = 0; ; tries++) {
      assert.ok(tries < 100, 'nothing long is answered any more')
      const rows = await Promise.resolve(driver.read('select count(*) from pet', [], 'long')).catch(() => undefined)
      if (rows === undefined) continue
      assert.deepEqual(rows, [[3000]])
      return
    }
  })

  test('read big integers, and fail in the words of every database', async (t) => {
    const driver = await filled(t)
    assert.deepEqual(await driver.read('select 9007199254740993', [], 'long'), [[9007199254740993n]])
    await assert.rejects(Promise.resolve(driver.read('select * from nothing', [], 'long')), DatabaseError)
  })
})

describe('over HTTP', () => {
  const pet = { attributes: { name: { type: 'string' } } } as const

  test('a database that another program holds for too long: 503, and come back', async () => {
    await using sqlite = await SqliteForTest.open({ pet }, { limits: { busyTimeoutMs: 20 } })
    sqlite.stranger.exec('begin immediate')
    const request = new Request('http://localhost/pet', {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    const response = await sqlite.service.fetch(request)
    assert.equal(response.status, 503)
    assert.equal(response.headers.get('retry-after'), '1')
    assert.equal(((await response.json()) as { code: string }).code, 'E_UNAVAILABLE')
    assert.deepEqual(await sqlite.all('pet'), [], 'reads are answered all the while')
    sqlite.stranger.exec('rollback')
    await sqlite.create('pet', { name: 'Rex' })
    assert.deepEqual(sqlite.reported, [])
  })

  test('a list that would take too long: 503, and nothing else is held up', async () => {
    await using sqlite = await SqliteForTest.open({ pet }, { limits: { statementTimeoutMs: 1 } })
    const numbers = 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 300000)'
    sqlite.stranger.exec(
      `drop table pet; create table pet (id integer primary key, name text); insert into pet ${numbers} select i, hex(zeroblob(50)) from n`,
    )
    const { status, body } = await sqlite.ask('GET', '/pet?where={"name":{"contains":"x"}}')
    assert.deepEqual([status, (body as { code: string }).code], [503, 'E_TIMEOUT'])
    assert.equal((await sqlite.ask('GET', '/pet/1')).status, 200)
  })

  test('a service that was closed refuses writes', async () => {
    const sqlite = await SqliteForTest.open({ pet })
    await sqlite[Symbol.asyncDispose]()
    const { status, body } = await sqlite.ask('POST', '/pet', {})
    assert.deepEqual([status, (body as { code: string }).code], [503, 'E_UNAVAILABLE'])
    assert.deepEqual(sqlite.reported, [])
  })

  test('a service that was closed refuses reads', async () => {
    const sqlite = await SqliteForTest.open({ pet })
    await sqlite[Symbol.asyncDispose]()
    const { status, body } = await sqlite.ask('GET', '/pet/1')
    assert.deepEqual([status, (body as { code: string }).code], [503, 'E_UNAVAILABLE'])
    assert.deepEqual(sqlite.reported, [])
  })
})

test('in memory, an operation of several statements that names nobody is refused', async () => {
  const owner = { attributes: { pets: { collection: 'pet', via: 'owner' } } } as const
  const pet = { attributes: { owner: { model: 'owner' }, tags: { collection: 'tag', via: 'pets' } } } as const
  const tag = { attributes: { pets: { collection: 'pet', via: 'tags' } } } as const
  const sqlite = await SqliteForTest.open({ owner, pet, tag }, { path: ':memory:' })
  const never = new Promise<never>((_, reject) => setTimeout(reject, 1000, new Error('no answer')))
  const { status } = await Promise.race([sqlite.ask('POST', '/pet', { owner: 99, tags: [] }), never])
  assert.equal(status, 400)
  await sqlite[Symbol.asyncDispose]()
})
