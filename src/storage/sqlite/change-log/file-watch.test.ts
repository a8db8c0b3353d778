import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, mock, test } from 'node:test'
import { FileWatch } from './file-watch.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-watch-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** Counts the checks; polls are triggered by the test, all others by the file. */
function watched(name: string) {
  mock.timers.enable({ apis: ['setInterval'] })
  const path = join(folder, name)
  let count = 0
  let changed = () => {}
  const watch = new FileWatch(path, () => {
    count++
    changed()
  })
  return {
    path,
    poll: () => mock.timers.tick(200),
    get looks() {
      return count
    },
    async until(looks: number): Promise<void> {
      while (count < looks) {
        await new Promise<void>((resolve) => {
          changed = resolve
        })
      }
    },
    [Symbol.dispose]() {
      watch[Symbol.dispose]()
      mock.timers.reset()
    },
  }
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('FileWatch', () => {
  test('checks several times after each write, because the commit may come later', async () => {
    writeFileSync(join(folder, 'one'), '')
    using file = watched('one')
    await wait(20)
    for (let round = 1; round <= 3; round++) {
      appendFileSync(file.path, 'x')
      await file.until(round * 6)
      await wait(20) // it is watched again
    }
  })

  test('also polls, and watches a file that appears later', async () => {
    using file = watched('later')
    file.poll()
    assert.equal(file.looks, 1)
    writeFileSync(file.path, '')
    file.poll()
    assert.equal(file.looks, 2)
    await wait(20)
    appendFileSync(file.path, 'x')
    await file.until(3)
  })

  test('stops when it is disposed', async () => {
    writeFileSync(join(folder, 'over'), '')
    const file = watched('over')
    await wait(20)
    appendFileSync(file.path, 'x')
    await file.until(1)
    const { looks } = file
    file[Symbol.dispose]()
    appendFileSync(file.path, 'x')
    await wait(50)
    assert.equal(file.looks, looks)
  })
})
