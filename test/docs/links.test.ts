import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pages = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md'], { cwd: root, exclude: ['**/node_modules/**'] })

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The anchors of a page, as GitHub derives them from its headings. */
const anchorsOf = (page: string): readonly string[] =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    (heading as string)
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )

function brokenLinks(path: string, page: string): readonly string[] {
  const links = [...page.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link as string)
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false
    const [file, anchor] = link.split('#') as [string, string?]
    const target = file === '' ? path : join(dirname(path), file)
    if (!existsSync(join(root, target))) return true
    return anchor !== undefined && !anchorsOf(read(target)).includes(anchor)
  })
}

for (const path of pages) {
  test(`the links of ${path} have a target`, () => assert.deepEqual(brokenLinks(path, read(path)), []))
}

test('a missing file and a missing anchor are reported', () => {
  const page =
    '[a](nothing.md) [b](README.md#nothing) [c](#nothing) [d](README.md#quick-start) [e](https://example.com)'
  assert.deepEqual(brokenLinks('README.md', page), ['nothing.md', 'README.md#nothing', '#nothing'])
})

test('the index of the documentation lists every page', () => {
  const index = read('docs/README.md')
  const missing = globSync('docs/*.md', { cwd: root }).filter(
    (path) => path !== 'docs/README.md' && !index.includes(`](${path.slice('docs/'.length)})`),
  )
  assert.deepEqual(missing, [])
})
