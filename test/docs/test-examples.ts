import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { blocksOf } from './blocks.ts'
import { Page } from './page.ts'

const root = new URL('../../', import.meta.url)
const docs = readdirSync(new URL('docs/', root), { recursive: true }) as string[]
const pages = ['README.md', ...docs.filter((file) => file.endsWith('.md')).map((file) => `docs/${file}`)]

/** The pages that the README names first, and the one that tests the tests. */
const isFirst = (page: string): boolean =>
  /^(?:README|docs\/(?:models|http|live|live-list|access|configuration))\.md$/.test(page)
export const firstPages = ['test/docs/fixture.md', ...pages.filter(isFirst)]
export const otherPages = pages.filter((page) => !isFirst(page))

const lacking = ['bash', 'curl'].find((tool) => spawnSync(tool, ['--version']).status !== 0)
/** The reason to skip examples; undefined where they can run. */
export const missingTool = lacking && `${lacking} is not installed`

/** Declares a test for each page that has examples. */
export function testExamples(names: readonly string[]): void {
  for (const page of names) {
    const path = new URL(page, root)
    const blocks = existsSync(path) ? blocksOf(readFileSync(path, 'utf8')) : []
    if (blocks.length === 0) continue
    test(`the ${blocks.length} examples of ${page} run as documented`, { skip: missingTool ?? false }, async () => {
      await using opened = await Page.open(page)
      for (const block of blocks) await opened.run(block)
    })
  }
}
