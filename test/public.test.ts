import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'

/** What each public entry gives at run time. A name that comes or goes is a change that users see. */
const surface: Readonly<Record<string, readonly string[]>> = {
  'conformance.ts': ['serviceConformance', 'storageConformance', 'zoo', 'zooModels'],
  'index.ts': ['ConfigError', 'ServiceError', 'createService', 'defaultPort', 'defineConfig'],
}

test('the files directly in src are the public surface, and nothing else is', async (t) => {
  const root = new URL('../src/', import.meta.url)
  const files = globSync('*.ts', { cwd: root }).sort()
  const found: Record<string, readonly string[]> = {}
  for (const file of files) {
    found[file] = Object.keys(await import(new URL(file, root).href)).sort()
    t.diagnostic(`${file}: ${found[file]?.join(', ')}`)
  }
  assert.deepEqual(found, surface)
})
