import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { watchDescriptors } from './watch-descriptors.ts'

test('that no file descriptors are left is reported once, and again when it happens later', () => {
  const clock = new ManualClock()
  const reported: unknown[] = []
  let code: string | undefined
  const watch = watchDescriptors(
    clock,
    (error) => reported.push(error),
    () => {
      if (code !== undefined) throw Object.assign(new Error(code), { code })
    },
  )
  for (const [afterMs, failure, count] of [
    [1_000, undefined, 0],
    [1_000, 'EACCES', 0],
    [1_000, 'EMFILE', 1],
    [1_000, 'EMFILE', 1],
    [59_000, 'ENFILE', 1],
    [59_000, undefined, 1],
    [2_000, 'ENFILE', 2],
  ] as const) {
    code = failure
    clock.advance(afterMs)
    assert.equal(reported.length, count)
  }
  for (const [index, text] of [/\(EMFILE\).*ulimit -n/, /\(ENFILE\).*the system/].entries()) {
    assert.match(inspect(reported[index]), text)
    assert.doesNotMatch(inspect(reported[index]), /\n/, 'it is one line of the log')
  }
  watch[Symbol.dispose]()
  code = 'EMFILE'
  clock.advance(120_000)
  assert.equal(reported.length, 2)
})
