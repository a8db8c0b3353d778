import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { describe, type TestContext, test } from 'node:test'
import { asOtherProgram, newFile, SqliteForTest } from '../../../../test/support/sqlite.ts'
import { defaultLimits } from '../../../support/limits.ts'
import { ChangeNotifier } from '../../change-notifier.ts'
import { DatabaseError } from '../../driver.ts'
import { SqliteDriver } from './driver.ts'

async function open(t: TestContext, path: string, limits = {}): Promise<SqliteDriver> {
  const driver = new SqliteDriver({
    path,
    limits: { ...defaultLimits, ...limits },
    notifier: new ChangeNotifier(),
  })
  t.after(() => driver[Symbol.asyncDispose]())
  await driver.prepare()
  return driver
}

const insert = 'insert into pet (name) values (?)'
const names = async (driver: SqliteDriver) =>
  (await driver.query('select name from pet order by id', [])).map(([name]) => name)

for (const place of ['a file', 'memory']) {
  describe(`reads see only committed rows, in ${place}`, () => {
    const opened = async (t: TestContext) => {
      const driver = await open(t, place === 'memory' ? ':memory:' : newFile())
      driver.setup.exec('create table pet (id integer primary key, name text)')
      return driver
    }

    test('while an operation is running', async (t) => {
      const driver = await opened(t)
      await driver.write(insert, ['before'], undefined)
      const gate = Promise.withResolvers<void>()
      const inside = Promise.withResolvers<void>()
      const operation = driver.transaction(async (query) => {
        await query(insert, ['half'])
        inside.resolve()
        await gate.promise
        await query(insert, ['whole'])
      }, undefined)
      await inside.promise
      const seen = names(driver)
      gate.resolve()
      // In memory there is one connection only, and the answer waits for the end of the operation.
      assert.deepEqual(await seen, place === 'memory' ? ['before', 'half', 'whole'] : ['before'])
      await operation
      assert.deepEqual(await names(driver), ['before', 'half', 'whole'])
    })

    test('while an operation is running that fails', async (t) => {
      const driver = await opened(t)
      const gate = Promise.withResolvers<void>()
      const inside = Promise.withResolvers<void>()
      const operation = driver.transaction(async (query) => {
        await query(insert, ['half'])
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

test('the write-ahead log is checkpointed in a worker thread above its size', async (t) => {
  const path = newFile()
  const driver = await open(t, path)
  driver.setup.exec('create table pet (id integer primary key, name text)')
  const sizeBefore = statSync(path).size
  for (let commits = 0; commits < 70; commits++) await driver.write(insert, ['x'.repeat(200_000)], undefined)
  // A checkpoint that has ended in the meantime lets it begin anew.
  assert.ok(statSync(`${path}-wal`).size > 4_000_000)
  // Far below the automatic checkpoint.
  for (let looks = 0; statSync(path).size === sizeBefore; looks++) {
    assert.ok(looks < 500, 'nothing of it came into the file')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
})

describe('reads that take long', () => {
  const slow = 'select count(*) from pet a, pet b where a.name || b.name like ?'
  const filled = async (t: TestContext, limits = {}) => {
    const path = newFile()
    const numbers = 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 3000) select i, i from n'
    asOtherProgram(path, `create table pet (id integer primary key, name text); insert into pet ${numbers}`)
    return open(t, path, limits)
  }

  test('hold up neither other reads nor writes', async (t) => {
    const driver = await filled(t)
    const order: string[] = []
    const long = Promise.resolve(driver.read({ text: slow, values: ['%x%'], access: 'filter' })).then(() =>
      order.push('scan'),
    )
    for (let round = 0; round < 5; round++) {
      await driver.write(insert, ['new'], undefined)
      await driver.query('select name from pet where id = ?', [1])
      order.push('indexed')
    }
    await long
    assert.deepEqual(order, ['indexed', 'indexed', 'indexed', 'indexed', 'indexed', 'scan'])
  })

  test('too long are given up, and the next one is answered', async (t) => {
    const driver = await filled(t, { statementTimeoutMs: 100 })
    await assert.rejects(
      Promise.resolve(driver.read({ text: slow, values: ['%x%'], access: 'filter' })),
      (error) => error instanceof DatabaseError && error.reason.kind === 'timeout',
    )
    // On a machine that is busy the new thread may come too late as well; it comes.
    for (let tries = 0; ; tries++) {
      assert.ok(tries < 100, 'nothing long is answered any more')
      const rows = await Promise.resolve(
        driver.read({ text: 'select count(*) from pet', values: [], access: 'filter' }),
      ).catch(() => undefined)
      if (rows === undefined) continue
      assert.deepEqual(rows, [[3000]])
      return
    }
  })

  test('read big integers, and fail in the words of every database', async (t) => {
    const driver = await filled(t)
    assert.deepEqual(await driver.read({ text: 'select 9007199254740993', values: [], access: 'filter' }), [
      [9007199254740993n],
    ])
    await assert.rejects(
      async () => driver.read({ text: 'select * from missing', values: [], access: 'filter' }),
      DatabaseError,
    )
  })
})

describe('over HTTP', () => {
  const pet = { attributes: { name: { type: 'string' } } } as const

  test('a locked database: 503 with Retry-After', async () => {
    await using sqlite = await SqliteForTest.open({ pet }, { limits: { busyTimeoutMs: 20 } })
    sqlite.otherProgram.exec('begin immediate')
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
    sqlite.otherProgram.exec('rollback')
    await sqlite.create('pet', { name: 'Rex' })
    assert.deepEqual(sqlite.reported, [])
  })

  test('a list that would take too long: 503, and nothing else is held up', async () => {
    await using sqlite = await SqliteForTest.open({ pet }, { limits: { statementTimeoutMs: 1 } })
    const numbers = 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 300000)'
    sqlite.otherProgram.exec(
      `drop table pet; create table pet (id integer primary key, name text); insert into pet ${numbers} select i, hex(zeroblob(50)) from n`,
    )
    const { status, body } = await sqlite.ask('GET', '/pet?where={"name":{"contains":"x"}}')
    assert.deepEqual([status, (body as { code: string }).code], [503, 'E_TIMEOUT'])
    assert.equal((await sqlite.ask('GET', '/pet/1')).status, 200)
  })

  test('a closed service rejects writes', async () => {
    const sqlite = await SqliteForTest.open({ pet })
    await sqlite[Symbol.asyncDispose]()
    const { status, body } = await sqlite.ask('POST', '/pet', {})
    assert.deepEqual([status, (body as { code: string }).code], [503, 'E_UNAVAILABLE'])
    assert.deepEqual(sqlite.reported, [])
  })

  test('a closed service rejects reads', async () => {
    const sqlite = await SqliteForTest.open({ pet })
    await sqlite[Symbol.asyncDispose]()
    const { status, body } = await sqlite.ask('GET', '/pet/1')
    assert.deepEqual([status, (body as { code: string }).code], [503, 'E_UNAVAILABLE'])
    assert.deepEqual(sqlite.reported, [])
  })
})

test('in memory, an operation that references a missing record is rejected', async () => {
  const owner = { attributes: { pets: { collection: 'pet', via: 'owner' } } } as const
  const pet = { attributes: { owner: { model: 'owner' }, tags: { collection: 'tag', via: 'pets' } } } as const
  const tag = { attributes: { pets: { collection: 'pet', via: 'tags' } } } as const
  const sqlite = await SqliteForTest.open({ owner, pet, tag }, { path: ':memory:' })
  const never = new Promise<never>((_, reject) => setTimeout(reject, 1000, new Error('no answer')))
  const { status } = await Promise.race([sqlite.ask('POST', '/pet', { owner: 99, tags: [] }), never])
  assert.equal(status, 400)
  await sqlite[Symbol.asyncDispose]()
})

describe('a snapshot that waits', () => {
  const opened = async (t: TestContext) => {
    const driver = await open(t, newFile())
    driver.setup.exec('create table pet (id integer primary key, name text)')
    await driver.write(insert, ['before'], undefined)
    return driver
  }
  const count = { text: 'select count(*) from pet', values: [], access: 'page' } as const

  test('lets others begin a snapshot and read what is committed meanwhile', async (t) => {
    const driver = await opened(t)
    const gate = Promise.withResolvers<void>()
    const first = driver.snapshot(async ({ read }) => {
      const before = (await read(count))[0]?.[0]
      await gate.promise
      return [before, (await read(count))[0]?.[0]]
    })
    await driver.write(insert, ['meanwhile'], undefined)
    assert.deepEqual(await names(driver), ['before', 'meanwhile'])
    assert.deepEqual(await driver.snapshot(({ read }) => read(count)), [[2]])
    gate.resolve()
    assert.deepEqual(await first, [1, 1])
  })

  test('is undone when it fails, and its connection serves again', async (t) => {
    const driver = await opened(t)
    for (let times = 0; times < 20; times++) {
      const failing = driver.snapshot(async ({ read }) => {
        await read(count)
        throw new Error('no')
      })
      await assert.rejects(Promise.resolve(failing), /no/)
    }
    await driver.write(insert, ['after'], undefined)
    assert.deepEqual(await names(driver), ['before', 'after'])
  })

  test('is followed by those for which there was no connection', async (t) => {
    const driver = await opened(t)
    const gate = Promise.withResolvers<void>()
    const snapshots = Array.from({ length: 40 }, () =>
      driver.snapshot(async ({ read }) => {
        await gate.promise
        return (await read(count))[0]?.[0]
      }),
    )
    assert.deepEqual(await names(driver), ['before'])
    gate.resolve()
    assert.deepEqual(await Promise.all(snapshots), Array(40).fill(1))
  })
})
