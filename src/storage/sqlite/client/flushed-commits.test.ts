import assert from 'node:assert/strict'
import fs, { symlinkSync } from 'node:fs'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { newFile } from '../../../../test/support/sqlite.ts'
import { createService } from '../../../index.ts'
import { defaultLimits } from '../../../support/limits.ts'
import { ChangeNotifier } from '../../change-notifier.ts'
import { DatabaseError, type Reader } from '../../driver.ts'
import { SqliteDriver } from './driver.ts'

/** A disk that says itself when it has what was written. */
class SlowDisk implements Disposable {
  readonly #flush = fs.fdatasync
  readonly #waiting: { readonly file: number; readonly done: (error: NodeJS.ErrnoException | null) => void }[] = []
  #asked = Promise.withResolvers<void>()

  constructor(t: TestContext) {
    t.mock.method(fs, 'fdatasync', (file: number, done: (error: NodeJS.ErrnoException | null) => void) => {
      this.#waiting.push({ file, done })
      this.#asked.resolve()
    })
  }

  /** Resolves when a commit waits for the disk. */
  async asked(): Promise<void> {
    await this.#asked.promise
  }

  end(error?: NodeJS.ErrnoException): void {
    this.#asked = Promise.withResolvers()
    for (const { file, done } of this.#waiting.splice(0)) {
      if (error) done(error)
      else this.#flush(file, done)
    }
  }

  [Symbol.dispose](): void {
    this.end()
  }
}

interface Pets {
  create(values: object): Promise<{ readonly id: number }>
  update(id: number, values: object): Promise<unknown>
  live(): AsyncIterator<{ readonly verb: string }>
}

/** So long that the commit is not waited for in the thread of the service. */
const long = 'x'.repeat(200_000)
const insert = 'insert into pet (name, text) values (?, ?)'
const names = async (reader: Pick<Reader, 'read'>) =>
  (await reader.read({ text: 'select name from pet where id < ? order by id', values: [100], access: 'key' })).map(
    ([name]) => name,
  )

async function open(t: TestContext, path = newFile()): Promise<SqliteDriver> {
  const driver = new SqliteDriver({ path, limits: defaultLimits, notifier: new ChangeNotifier() })
  t.after(() => driver[Symbol.asyncDispose]())
  await driver.prepare()
  driver.setup.exec('create table if not exists pet (id integer primary key, name text, text text)')
  driver.serve()
  return driver
}

describe('while a commit is brought to the disk', () => {
  test('others read what was there before, and the write is not answered', async (t) => {
    const driver = await open(t)
    await driver.write(insert, ['first', long], undefined)
    using disk = new SlowDisk(t)
    let isAnswered = false
    const written = driver.write(insert, ['second', long], undefined).then(() => {
      isAnswered = true
    })
    await disk.asked()
    const snapshot = driver.snapshot(names)
    const during = await names(driver)
    for (let turn = 0; turn < 10; turn++) await setImmediate()
    assert.deepEqual(during, ['first'])
    assert.deepEqual(await names(driver), ['first'])
    assert.equal(isAnswered, false)
    disk.end()
    await written
    assert.deepEqual(await names(driver), ['first', 'second'])
    assert.deepEqual(await snapshot, ['first', 'second'], 'a snapshot has waited')
  })

  test('a snapshot that has begun before goes on, and so do others afterwards', async (t) => {
    const driver = await open(t)
    await driver.write(insert, ['first', long], undefined)
    const gate = Promise.withResolvers<void>()
    const snapshot = driver.snapshot(async (reader) => {
      const before = await names(reader)
      await gate.promise
      return [before, await names(reader)]
    })
    using disk = new SlowDisk(t)
    const written = driver.write(insert, ['second', long], undefined)
    await disk.asked()
    gate.resolve()
    for (let turn = 0; turn < 10; turn++) await setImmediate()
    assert.deepEqual(await names(driver), ['first'])
    disk.end()
    await written
    assert.deepEqual(await snapshot, [['first'], ['first']])
    assert.deepEqual(await names(driver), ['first', 'second'])
  })

  test('further writes wait, and share the next commit', async (t) => {
    const driver = await open(t)
    using disk = new SlowDisk(t)
    const first = driver.write(insert, ['first', long], undefined)
    await disk.asked()
    const others = ['second', 'third'].map((name) => driver.write(insert, [name, long], undefined))
    for (let turn = 0; turn < 10; turn++) await setImmediate()
    disk.end()
    await first
    await disk.asked()
    assert.deepEqual(await names(driver), ['first'])
    disk.end()
    await Promise.all(others)
    assert.deepEqual(await names(driver), ['first', 'second', 'third'])
  })

  test('kept answers, tags and events are of the state before', async (t) => {
    await using service = await createService({
      database: `sqlite:${newFile()}`,
      models: { pet: { attributes: { name: { type: 'string' }, text: { type: 'string' } } } } as const,
    })
    const { url } = await service.listen(0)
    const pets = service.system.records.pet as unknown as Pets
    const { id } = await pets.create({ name: 'Rex' })
    const ask = async () => {
      const response = await fetch(`${url}/pet?sort=id`)
      return [response.headers.get('etag'), ((await response.json()) as { name: string }[]).map(({ name }) => name)]
    }
    const before = await ask()
    await ask()
    const events = pets.live()
    assert.equal((await events.next()).value.verb, 'ready')
    const verbs: string[] = []
    void events.next().then(({ value }) => verbs.push(value.verb))
    using disk = new SlowDisk(t)
    const written = pets.update(id, { name: 'Max', text: long })
    await disk.asked()
    for (let count = 0; count < 3; count++) assert.deepEqual(await ask(), before)
    assert.deepEqual(verbs, [])
    disk.end()
    await written
    const [tag, names] = await ask()
    assert.deepEqual(names, ['Max'])
    assert.notEqual(tag, before[0])
    while (verbs.length === 0) await setImmediate()
    assert.deepEqual(verbs, ['updated'])
    await events.return?.()
  })
})

test('a write that the disk does not take is refused, and the next one is not', async (t) => {
  const driver = await open(t)
  using disk = new SlowDisk(t)
  for (const [code, kind] of [
    ['EIO', 'damaged'],
    ['ENOSPC', 'full'],
  ] as const) {
    const refused = driver.write(insert, [code, long], undefined)
    await disk.asked()
    disk.end(Object.assign(new Error(code), { code }))
    await assert.rejects(refused, (error) => error instanceof DatabaseError && error.reason.kind === kind)
    const transaction = driver.transaction((query) => query(insert, [code, long]), undefined, { isExclusive: true })
    await disk.asked()
    disk.end(Object.assign(new Error(code), { code }))
    await assert.rejects(transaction, (error) => error instanceof DatabaseError && error.reason.kind === kind)
  }
  const written = driver.write(insert, ['last', long], undefined)
  await disk.asked()
  disk.end()
  await written
  // Nothing is run twice. What was refused may be there: it was committed.
  assert.deepEqual(await names(driver), ['EIO', 'EIO', 'ENOSPC', 'ENOSPC', 'last'])
})

test('a file behind a symbolic link is flushed as well', async (t) => {
  const [path, link] = [newFile(), newFile()]
  await open(t, path)
  symlinkSync(path, link)
  const driver = await open(t, link)
  using disk = new SlowDisk(t)
  const written = driver.write(insert, ['first', long], undefined)
  await disk.asked()
  disk.end()
  await written
})

test('a short commit waits for a fast disk in this thread, and no longer once the disk was slow', async (t) => {
  const driver = await open(t)
  const flushed = { here: 0, aside: 0 }
  let isSlow = false
  const [here, aside] = [fs.fdatasyncSync, fs.fdatasync]
  t.mock.method(fs, 'fdatasyncSync', (file: number) => {
    flushed.here++
    if (isSlow) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    else here(file)
  })
  t.mock.method(fs, 'fdatasync', (file: number, done: fs.NoParamCallback) => {
    flushed.aside++
    aside(file, done)
  })
  const write = () => driver.write(insert, ['short', ''], undefined)
  await write()
  assert.deepEqual(flushed, { here: 0, aside: 1 }, 'the disk is not known')
  while (flushed.here === 0) await write()
  isSlow = true
  await write()
  isSlow = false
  const after = flushed.here
  await write()
  assert.equal(flushed.here, after)
  while (flushed.here === after) await write()
})
