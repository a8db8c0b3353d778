import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../support/command.ts'

test('what makes temporary folders for tests removes them', () => {
  const files = globSync(['src/**/*.test.ts', 'test/**/*.ts'], { cwd: root })
  const texts = files.map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
  const making = texts.filter(({ text }) => /\bmkdtemp(Sync)?\(/.test(text))
  assert.ok(making.length > 20)
  assert.deepEqual(
    making.filter(({ text }) => !/\brm(Sync)?\(/.test(text)).map(({ file }) => file),
    [],
  )
})
