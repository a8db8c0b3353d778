import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

test('the GitHub workflow runs every section of .ci/run that needs no local recordings', () => {
  const sections = /^all=\((.+)\)$/m.exec(read('.ci/run'))?.[1]?.split(' ') ?? []
  const runs = [...read('.github/workflows/ci.yml').matchAll(/- run: \.ci\/run (.+)$/gm)]
  const inWorkflow = new Set(runs.flatMap(([, names]) => (names as string).split(' ')))
  inWorkflow.delete('install_here')
  assert.deepEqual([...inWorkflow].toSorted(), sections.filter((name) => name !== 'recorded').toSorted())
})
