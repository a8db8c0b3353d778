import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setInterval } from 'node:timers/promises'
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
