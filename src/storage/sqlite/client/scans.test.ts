import assert from 'node:assert/strict'
import { ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { getPriority } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import type { Readable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { asOtherProgram, newFile, SqliteForTest } from '../../../../test/support/sqlite.ts'
import { defaultLimits } from '../../../support/limits.ts'
import { programUrl } from '../../../support/package-files.ts'
import { ByteBudget } from '../../byte-budget.ts'
import { ChangeNotifier } from '../../change-notifier.ts'
import { type Access, DatabaseError, type DatabaseErrorKind, type Row, type Statement } from '../../driver.ts'
import type { EncodedPage, Encoding } from '../../encoding.ts'
import { SqliteDriver } from './driver.ts'

const statement = (text: string, values: readonly unknown[] = [], access: Access = 'filter'): Statement => ({
  text,
  values,
  access,
})

const numbers = (count: number) => `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})`
const schema = `create table pet (id integer primary key, name text, kind text, owner integer);
  create index pet_owner on pet (owner, id); create table owner (id integer primary key, name text);
  insert into owner values (1, 'Ann'); insert into pet ${numbers(20_000)} select i, 'Pet ' || i, 'dog', 1 from n`

async function open(t: TestContext, limits = {}): Promise<SqliteDriver> {
  const path = newFile()
  asOtherProgram(path, schema)
  const driver = new SqliteDriver({ path, limits: { ...defaultLimits, ...limits }, notifier: new ChangeNotifier() })
  t.after(() => driver[Symbol.asyncDispose]())
  await driver.prepare()
  return driver
}

const kindOf = (kind: DatabaseErrorKind['kind']) => (error: unknown) =>
  error instanceof DatabaseError && error.reason.kind === kind

/** Runs for minutes unless it is stopped. */
const endless = statement('select count(*) from pet a, pet b where a.name || b.name = ?', ['x'])
const rejected = async (promise: unknown) => {
  const [outcome] = await Promise.allSettled([promise])
  return outcome?.status === 'rejected' ? outcome.reason : undefined
}

describe('a scan', () => {
  test('runs in a process, and returns values of every kind', async (t) => {
    const driver = await open(t)
    const text = `select count(*), 9007199254740993, x'00ff', null, 1.5, 'ž🐕' from pet where name like ?`
    const rows = driver.read(statement(text, ['%1%']))
    assert.ok(rows instanceof Promise)
    const [[count, big, bytes, ...rest] = []] = await rows
    assert.deepEqual(
      [typeof count, big, Buffer.from(bytes as Uint8Array).toString('hex'), ...rest],
      ['bigint', 9007199254740993n, '00ff', null, 1.5, 'ž🐕'],
    )
  })

  test('has a lower priority than the event loop', { skip: process.platform !== 'linux' }, async (t) => {
    const driver = await open(t)
    await driver.read(statement('select count(*) from pet where name like ?', ['%1%']))
    const { stdout } = spawnSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' })
    const readers = stdout.split('\n').filter((line) => line.includes('reader-main'))
    assert.deepEqual(
      readers.map((line) => getPriority(Number.parseInt(line, 10))),
      [10],
    )
  })

  test('whose service was killed ends without a word', async () => {
    const file = newFile()
    new DatabaseSync(file).close()
    const reader = fork(programUrl('storage/sqlite/client/reader-main').pathname, [file, '1000'], {
      execArgv: ['--conditions=keelson-source', '--disable-warning=ExperimentalWarning'],
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    let said = ''
    reader.stdout?.resume()
    reader.stderr?.on('data', (text) => {
      said += text
    })
    await once(reader, 'message')
    const text =
      'with recursive n (i) as (select 1 union all select i + 1 from n where i < 100000) select count(*) from n'
    reader.send({ text, values: [] })
    reader.disconnect()
    const [[code]] = await Promise.all([once(reader, 'exit'), once(reader.stderr as Readable, 'end')])
    assert.deepEqual([code, said], [0, ''])
  })

  test('that takes too long is stopped, and others get their turn', async (t) => {
    const driver = await open(t, { statementTimeoutMs: 300, maxScans: 1 })
    const outcomes = await Promise.allSettled([
      driver.read(endless),
      driver.read(statement('select count(*) from pet where name = ?', ['Pet 1'])),
      driver.read(statement('select count(*) from pet where name <> ?', ['Pet 1'])),
    ])
    assert.ok(kindOf('timeout')((outcomes[0] as PromiseRejectedResult).reason))
    assert.deepEqual(
      outcomes.slice(1).map((outcome) => outcome.status === 'fulfilled' && outcome.value),
      [[[1]], [[19_999]]],
    )
  })

  test('that waits too long fails as busy', async (t) => {
    const driver = await open(t, { busyTimeoutMs: 50, maxScans: 1 })
    const controller = new AbortController()
    const first = rejected(driver.read(endless, { signal: controller.signal }))
    await assert.rejects(async () => driver.read(endless), kindOf('busy'))
    controller.abort()
    assert.ok(kindOf('aborted')(await first))
  })

  test('whose client has disconnected is stopped, or not begun', async (t) => {
    const driver = await open(t, { maxScans: 1 })
    const controllers = [new AbortController(), new AbortController()]
    const reads = controllers.map(({ signal }) => rejected(driver.read(endless, { signal })))
    await pause(50)
    for (const controller of controllers) controller.abort()
    for (const read of reads) assert.ok(kindOf('aborted')(await read))
    const after = driver.read(statement('select count(*) from pet where kind = ?', ['dog']))
    assert.deepEqual(await after, [[20_000]])
    assert.ok(kindOf('aborted')(await rejected(driver.read(endless, { signal: AbortSignal.abort() }))))
  })

  test('whose client has disconnected and that ends soon leaves its process to others', async (t) => {
    const driver = await open(t, { maxScans: 1 })
    const kill = t.mock.method(ChildProcess.prototype, 'kill')
    t.mock.timers.enable({ apis: ['setTimeout'] }) // however long it takes on a busy machine
    const controllers = [new AbortController(), new AbortController()]
    const soon = statement(`select count(*) from pet a, pet b where a.id < 20 and a.name || b.name like '%1%'`)
    const beforeItIsBegun = rejected(driver.read(endless, { signal: controllers[0]?.signal }))
    controllers[0]?.abort()
    assert.ok(kindOf('aborted')(await beforeItIsBegun))
    const whileItRuns = rejected(driver.read(soon, { signal: controllers[1]?.signal }))
    for (let turns = 0; turns < 3; turns++) await turn()
    controllers[1]?.abort()
    assert.ok(kindOf('aborted')(await whileItRuns))
    assert.deepEqual(await driver.read(statement('select count(*) from pet where kind = ?', ['dog'])), [[20_000]])
    assert.equal(kill.mock.callCount(), 0)
  })

  test('fails like any statement', async (t) => {
    const driver = await open(t)
    await assert.rejects(
      async () => driver.read(statement('select json(name) from pet where kind = ?', ['dog'])),
      DatabaseError,
    )
  })

  test('in a snapshot: the snapshot is repeated in a process, and its reads agree', async (t) => {
    const driver = await open(t)
    let runs = 0
    const counts = await driver.snapshot(async ({ read }) => {
      runs++
      const [[before] = []] = await read(statement('select id from pet where id = ?', [1], 'key'))
      const [[all] = []] = await read(statement('select count(*) from pet where kind = ?', ['dog']))
      await driver.write(`insert into pet (kind) values ('dog')`, [], undefined)
      const [[again] = []] = await read(statement('select count(*) from pet where kind = ?', ['dog']))
      return [before, all, again]
    })
    assert.deepEqual([runs, counts], [2, [1, 20_000, 20_000]])
    assert.deepEqual(await driver.read(statement('select count(*) from pet where kind = ?', ['dog'])), [[20_001]])
  })

  test('that fails in a snapshot leaves the process usable', async (t) => {
    const driver = await open(t, { maxScans: 1 })
    await assert.rejects(
      async () => driver.snapshot(({ read }) => read(statement('select json(name) from pet where kind = ?', ['dog']))),
      DatabaseError,
    )
    assert.deepEqual(await driver.read(statement('select count(*) from pet where kind = ?', ['dog'])), [[20_000]])
  })
})

describe('a page whose texts are needed', () => {
  const encoding: Encoding = {
    columns: [
      { attribute: { name: 'id', type: { storedAs: 'integer' } }, index: 0 },
      { attribute: { name: 'name', type: { storedAs: 'text' } }, index: 1 },
    ],
    keyAt: 0,
    page: { limit: 2, sortedAt: [1, 0] },
  }
  const pets = statement('select id, name from pet where name like ? order by name, id limit 3', ['Pet 1999%'])
  /** Without its tag. */
  const pageOf = (read: readonly Row[] | EncodedPage) => {
    assert.ok('parts' in read)
    const { parts, keys, next, ends } = read
    return { text: Buffer.concat(parts).toString(), keys, next, ends: [...ends] }
  }
  const expected = {
    text: '[{"id":1999,"name":"Pet 1999"},{"id":19990,"name":"Pet 19990"}]',
    keys: [1999, 19_990],
    next: ['Pet 19990', 19_990],
    ends: [30, 62],
  }
  const budget = (maxAnswerBytes: number) => ({ budget: new ByteBudget(maxAnswerBytes) })

  test('is encoded in a process, alone and in a snapshot', async (t) => {
    const driver = await open(t)
    assert.deepEqual(pageOf(await driver.readPage(pets, () => encoding)), expected)
    const inSnapshot = await driver.snapshot(
      async (reader) => reader.readPage?.(pets, () => encoding) ?? reader.read(pets),
    )
    assert.deepEqual(pageOf(inSnapshot), expected)
  })

  test('is rows where the encoder cannot be described', async (t) => {
    const driver = await open(t)
    assert.deepEqual(await driver.readPage(pets, () => undefined), await driver.read(pets))
  })

  test('that is too large fails, and the process is used again', async (t) => {
    const driver = await open(t, { maxScans: 1 })
    const long = statement(`select id, replace(hex(zeroblob(3000)), '0', char(1)) from pet where name like ? limit 3`, [
      '%1%',
    ])
    const tooLarge = expected.text.length - 1
    for (const [page, maxBytes] of [
      [pets, tooLarge],
      [long, 40_000],
    ] as const)
      await assert.rejects(async () => driver.readPage(page, () => encoding, budget(maxBytes)), kindOf('large'))
    assert.deepEqual(pageOf(await driver.readPage(pets, () => encoding, budget(tooLarge + 1))), expected)
  })

  test('whose client disconnects or that takes too long is stopped', async (t) => {
    const driver = await open(t, { maxScans: 1, statementTimeoutMs: 1_500 })
    const controller = new AbortController()
    const reading = rejected(driver.readPage(endless, () => encoding, { signal: controller.signal }))
    await pause(50)
    controller.abort()
    assert.ok(kindOf('aborted')(await reading))
    assert.ok(kindOf('timeout')(await rejected(driver.readPage(endless, () => encoding))))
    assert.deepEqual(pageOf(await driver.readPage(pets, () => encoding)), expected)
  })

  test('of several megabytes comes whole, one after another', async (t) => {
    const driver = await open(t)
    const long = statement(`select id, hex(zeroblob(1000 + ?)) || name from pet where name like '%1%' limit 1001`, [1])
    const whole = { ...encoding, page: { limit: 1000, sortedAt: [] } }
    const [first, second] = await Promise.all([driver.readPage(long, () => whole), driver.readPage(long, () => whole)])
    assert.equal(JSON.parse(pageOf(first).text).length, 1000)
    assert.deepEqual(pageOf(second), pageOf(first))
  })
})

test('rows of several megabytes come whole, in several messages', async (t) => {
  const driver = await open(t)
  const long = statement(`select id, hex(zeroblob(1000)) from pet where name like '%1%' limit 1001`)
  const emit = t.mock.method(ChildProcess.prototype, 'emit')
  const rows = await driver.read(long, { budget: new ByteBudget(16_000_000) })
  assert.equal(rows.length, 1001)
  assert.equal(new Set(rows.map(([id]) => id)).size, 1001)
  const messages = emit.mock.calls.filter(
    ({ arguments: [event, message] }) => event === 'message' && message !== 'ready',
  )
  assert.ok(messages.length > 4, `${messages.length} messages`)
  assert.deepEqual(await driver.read(statement(`select id from pet where name like '%2%' limit 1`)), [[2]])
})

describe('a statement that the plan calls bounded', () => {
  const guarded = statement(
    'select count(*) from pet where (pet.id & 15 or keelson_guard()) and owner = ? and name <> ?',
    [1, 'x'],
  )

  test('is stopped when its time on the event loop is over, repeated in a process, and goes there from then on', async (t) => {
    const driver = await open(t, { maxBlockMs: 0.5 })
    for (let times = 0; times < 3; times++) {
      const rows = driver.read(guarded)
      assert.ok(rows instanceof Promise)
      assert.deepEqual(await rows, [[20_000]])
    }
  })

  test('is answered at once when it takes less', async (t) => {
    const driver = await open(t)
    assert.deepEqual(driver.read(statement('select count(*) from owner where name = ?', ['Ann'])), [[1]])
  })
})

test('in memory a statement is stopped after its time limit', async (t) => {
  const driver = new SqliteDriver({
    path: ':memory:',
    limits: { ...defaultLimits, statementTimeoutMs: 50 },
    notifier: new ChangeNotifier(),
  })
  t.after(() => driver[Symbol.asyncDispose]())
  driver.setup.exec(schema)
  const text = 'select count(*) from pet a, pet b where keelson_guard() and a.name || b.name = ?'
  assert.throws(() => driver.read(statement(text, ['x'])), kindOf('timeout'))
  await assert.rejects(async () => driver.snapshot(({ read }) => read(statement(text, ['x']))), kindOf('timeout'))
  assert.deepEqual(driver.read(statement('select count(*) from pet')), [[20_000]])
})

test('a service answers a scan, and stops', async () => {
  const sqlite = await SqliteForTest.open({ pet: { attributes: { name: { type: 'string' } } } })
  sqlite.otherProgram.exec(`insert into pet ${numbers(20_000)} select i, 'Pet ' || i from n`)
  const { status, body } = await sqlite.ask('GET', `/pet?where=${encodeURIComponent('{"name":{"like":"%t%99_9"}}')}`)
  assert.deepEqual([status, (body as { id: number }[]).map(({ id }) => id).slice(0, 2)], [200, [9909, 9919]])
  await sqlite[Symbol.asyncDispose]()
})

describe('a long read of an operation that may share its transaction', () => {
  const countOf = 'select count(*) from pet where keelson_guard() and kind = ?'

  for (const { title, before, runs } of [
    { title: 'runs in a process before anything is written', before: 0, runs: 1 },
    { title: 'behind writes of others: in a transaction of its own', before: 2, runs: 2 },
  ])
    test(title, async (t) => {
      const driver = await open(t, { maxBlockMs: 0.2 })
      let now = 0
      t.mock.method(performance, 'now', () => (now += 0.01)) // a group is not divided, however busy the machine is
      let begun = 0
      const writes = Array.from({ length: before }, () =>
        driver.write(`insert into pet (kind) values ('dog')`, [], undefined),
      )
      const [counted] = await Promise.all([
        driver.transaction(async (query) => {
          begun++
          const rows = await query(countOf, ['dog'])
          await query(`insert into pet (kind) values ('dog')`, [])
          return [rows, await query(countOf, ['dog'])]
        }, undefined),
        ...writes,
      ])
      assert.deepEqual(counted, [[[20_000 + before]], [[20_001 + before]]])
      assert.equal(begun, runs)
    })

  test('that fails leaves the others as they are', async (t) => {
    const driver = await open(t, { maxBlockMs: 0.2 })
    const write = () => driver.write(`insert into pet (kind) values ('dog')`, [], undefined)
    const outcomes = await Promise.allSettled([
      write(),
      driver.transaction(async (query) => {
        await query(countOf, ['dog'])
        throw new Error('oops')
      }, undefined),
      write(),
    ])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(await driver.query('select count(*) from pet', []), [[20_002]])
  })
})
