import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { assertNodeVersion } from './node-version.ts'

test('the oldest Node is the one of package.json', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const oldest = Number(/^>=(\d+)$/.exec(engines.node)?.[1])
  assertNodeVersion(process.versions.node)
  assertNodeVersion(`${oldest}.0.0`)
  assert.throws(() => assertNodeVersion(`${oldest - 1}.9.9`), {
    message: `Keelson needs Node ${oldest} or newer; this is Node ${oldest - 1}.9.9`,
  })
})
