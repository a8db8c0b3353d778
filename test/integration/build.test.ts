import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { folder, root } from '../support/command.ts'

const build = (...args: readonly string[]) =>
  spawnSync(process.execPath, [join(root, 'build.js'), ...args], { cwd: folder(), encoding: 'utf8' })

describe('build.js, which empties the folder that it builds into', () => {
  const other = folder({ 'kept.txt': '' })
  const cases: readonly (readonly [name: string, args: readonly string[], status: number, printed: RegExp])[] = [
    ['prints its usage', ['--help'], 0, /^node build\.js \[FOLDER\]/],
    ['refuses an unknown option', ['--nothing'], 2, /Unknown option '--nothing'[\s\S]*\nnode build\.js/],
    ['refuses two folders', ['a', 'b'], 2, /More than one folder: a, b\n/],
    ['refuses a folder with other files', [other], 2, /has other files than those of a build\n/],
  ]
  for (const [name, args, expected, printed] of cases) {
    test(name, () => {
      const { status, stdout, stderr } = build(...args)
      assert.match(stdout + stderr, printed)
      assert.equal(status, expected)
      assert.ok(existsSync(join(other, 'kept.txt')))
    })
  }
})
