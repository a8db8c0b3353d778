import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { errorStatus } from '../../src/protocol/errors.ts'

test('docs/http.md lists every error code in the row of its status', () => {
  const page = readFileSync(new URL('../../docs/http.md', import.meta.url), 'utf8')
  const [, errors = ''] = page.split('\n## Errors\n')
  const rows = errors.split('\n').filter((line) => /^\| \d/.test(line))
  const missing = Object.entries(errorStatus).filter(
    ([code, status]) => !rows.some((row) => row.split('|')[1]?.includes(String(status)) && row.includes(`\`${code}\``)),
  )
  assert.deepEqual(missing, [])
})
