import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { blocksOf, fileNameOf } from './blocks.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pages = globSync(['README.md', 'docs/*.md'], { cwd: root })

/** The errors of the compiler in the TypeScript examples of pages, with the line of the page. */
function errorsIn(pages: readonly (readonly [path: string, text: string])[]): readonly string[] {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'keelson-docs-compile-'))
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const paths = { keelson: [join(root, 'src/index.ts')], 'keelson/*': [join(root, 'src/*.ts')] }
    const config = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { paths, declaration: false },
      include: ['*/*.ts'],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    for (const [path, text] of pages) {
      const pageFolder = join(folder, path.replaceAll(/[\\/]/g, '-'))
      mkdirSync(pageFolder)
      for (const block of blocksOf(text).filter(({ kind }) => kind === 'ts')) {
        // Empty lines before the block, so that the lines are those of the page; `export {}` makes every block a module.
        const source = `${'\n'.repeat(block.line - 1)}${block.text}\nexport {}\n`
        writeFileSync(join(pageFolder, fileNameOf(block) ?? `line-${block.line}.ts`), source)
      }
    }
    const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    const { stdout } = spawnSync(process.execPath, [compiler, '--project', folder], { cwd: folder, encoding: 'utf8' })
    return [...stdout.matchAll(/^([^/\n]+)\/[^\n(]+\((\d+),\d+\): error \S+: (.+)$/gm)].map(
      ([, page, line, message]) => `${page}:${line} ${message}`,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test('the TypeScript examples of the documentation compile', () =>
  assert.deepEqual(errorsIn(pages.map((path) => [path, readFileSync(join(root, path), 'utf8')])), []))

test('an example that does not compile is reported', () => {
  const text = "text\n\n```ts run\nimport { createService } from 'keelson'\ncreateService({ modles: {} })\n```\n"
  const [error] = errorsIn([['docs/page.md', text]])
  assert.match(error as string, /^docs-page\.md:5 .*modles/)
})
