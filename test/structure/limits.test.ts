import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { limitTable } from '../../src/support/limits.ts'

test('docs/limits.md lists every limit with its default', () => {
  const page = readFileSync(new URL('../../docs/limits.md', import.meta.url), 'utf8')
  const rows = Object.entries(limitTable).map(([name, [value, reason]]) => `| \`${name}\` | ${value} | ${reason} |`)
  assert.deepEqual(
    page.split('\n').filter((line) => line.startsWith('| `')),
    rows,
  )
})
