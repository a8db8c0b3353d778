import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

/*
 * The files and names that pages for contributors mention in code spans exist in the sources.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
const files = globSync('{src,test,bench,examples,.ci,.github}/**/*', { cwd: root }).map((path) =>
  path.replaceAll('\\', '/'),
)
const source = files
  .filter((path) => path.startsWith('src/') && path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => readFileSync(join(root, path), 'utf8'))
  .join('\n')

/** Files of the application that a page describes, or that a reader creates. */
const notHere = /equals-ignoring-case|^keelson\//

const existsFile = (path: string): boolean =>
  globSync([path, `src/${path}`], { cwd: root }).length > 0 || files.some((file) => file.endsWith(`/${path}`))

function unknownReferences(page: string): readonly string[] {
  const spans = [...page.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, span]) => span as string)
  return spans.filter((span) => {
    if (notHere.test(span)) return false
    if (/^[\w.*{},-]+(\/[\w.*{},-]+)*(\/|\.(ts|js|json|yml))$/.test(span)) return !existsFile(span.replace(/\/$/, ''))
    if (/^[A-Z][a-z]+[A-Z]\w*(\.\w+)?$/.test(span)) {
      return span.split('.').some((name) => !new RegExp(`\\b${name}\\b`).test(source))
    }
    return false
  })
}

for (const page of ['ARCHITECTURE.md', 'CONTRIBUTING.md']) {
  test(`the files and names in ${page} exist`, () =>
    assert.deepEqual(unknownReferences(readFileSync(join(root, page), 'utf8')), []))
}

test('ARCHITECTURE.md gives the purpose of every production dependency', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const rows = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|')[1])
  assert.deepEqual(
    Object.keys(dependencies).filter((name) => !rows.some((cell) => cell?.includes(`\`${name}\``))),
    [],
  )
})

test('a missing file and a missing name are reported', () => {
  const page =
    '`service/dispatch/` `service/nothing.ts` `handle-request.ts` `SqlStore` `ChangeLog.includes` `SqlNothing` `ChangeLog.noSuchMember`'
  assert.deepEqual(unknownReferences(page), ['service/nothing.ts', 'SqlNothing', 'ChangeLog.noSuchMember'])
})
