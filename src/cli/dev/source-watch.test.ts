import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setInterval, setTimeout } from 'node:timers/promises'
import { SourceWatch } from './source-watch.ts'

test('a file that is empty while it is saved without a change has not changed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-watch-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [saved, changed] = [join(folder, 'saved.ts'), join(folder, 'changed.ts')]
  for (const file of [saved, changed]) writeFileSync(file, 'export {}')
  // What has changed is reported by `setTimeout`, and a slow machine may take longer for the events of the files.
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const watch = new SourceWatch(folder)
  t.after(() => watch.close())
  watch.follow([saved, changed], undefined)
  let isReported = false
  void watch.next.then(() => {
    isReported = true
  })
  writeFileSync(saved, '')
  for await (const _ of setInterval(100)) break
  writeFileSync(saved, 'export {}')
  writeFileSync(changed, 'export {};')
  for await (const _ of setInterval(100)) {
    t.mock.timers.tick(1_000)
    if (isReported) break
  }
  assert.deepEqual(watch.take(), [changed])
})

test('a file that is saved without a change has changed after the configuration has failed, and not while it is loaded', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-watch-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'keelson.config.ts')
  writeFileSync(file, 'export {}')
  const watch = new SourceWatch(folder)
  t.after(() => watch.close())
  const isReported = () => Promise.race([watch.next.then(() => true), setTimeout(500, false)])
  watch.follow([file], undefined)
  writeFileSync(file, 'export {}')
  assert.equal(await isReported(), false)
  watch.followBroken([file])
  writeFileSync(file, 'export {}')
  assert.equal(await isReported(), true)
  assert.deepEqual(watch.take(), [file])
  writeFileSync(file, 'export {}')
  assert.equal(await isReported(), false)
})
