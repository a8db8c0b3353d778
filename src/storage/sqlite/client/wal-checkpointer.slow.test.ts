import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { newFile } from '../../../../test/support/sqlite.ts'
import { defaultLimits } from '../../../support/limits.ts'
import { ChangeNotifier } from '../../change-notifier.ts'
import { SqliteDriver } from './driver.ts'

/** Another program that reads without pauses. */
function overlappingReader(t: TestContext, path: string, afterMs: number): { reads: number } {
  const otherProgram = new DatabaseSync(path)
  const reader = { reads: 0 }
  const read = () => {
    if (reader.reads++ > 0) otherProgram.exec('commit')
    otherProgram.exec('begin; select count(*) from pet')
  }
  let timer: NodeJS.Timeout | undefined
  const start = setTimeout(() => {
    timer = setInterval(read, 20)
  }, afterMs)
  t.after(() => {
    clearTimeout(start)
    clearInterval(timer)
    otherProgram.close()
  })
  return reader
}

describe('the write-ahead log', () => {
  const filled = async (t: TestContext) => {
    const path = newFile()
    const driver = new SqliteDriver({ path, limits: defaultLimits, notifier: new ChangeNotifier() })
    t.after(() => driver[Symbol.asyncDispose]())
    await driver.prepare()
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

  test('stays bounded under continuous writes', async (t) => {
    const { path, write } = await filled(t)
    let largest = 0
    for (let commits = 0; commits < 900; commits++) {
      await write(1, commits)
      largest = Math.max(largest, statSync(`${path}-wal`).size)
    }
    // 180 MB were written. While there is no pause it may not begin anew before 128 MB, where writers pause.
    assert.ok(largest < 160_000_000, `it grew to ${largest} bytes`)
  })

  test('stays bounded while other programs are always reading', async (t) => {
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
