import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

/*
 * docs/configuration.md lists every option of the type `Config`, with its type and an example that compiles. The rows of the
 * page become a program, which the compiler checks.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
const pageUrl = new URL('../../docs/configuration.md', import.meta.url)

interface Row {
  readonly option: string
  readonly type: string
  readonly defaultValue: string
  readonly example: string
}

function rowsOf(page: string): readonly Row[] {
  const cell = String.raw` ((?:\\\||[^|])+) \|`
  return [...page.matchAll(new RegExp(`^\\| \`([\\w.]+)\` \\|${cell}${cell}${cell}$`, 'gm'))].map((match) => {
    const [option, type, defaultValue, example] = match.slice(1).map((text) => text.replaceAll('\\|', '|'))
    return { option, type: code(type), defaultValue, example: code(example) } as Row
  })
}

const code = (text: string | undefined): string => (text ?? '').replace(/^`(.*)`$/, '$1')

/** A program that fails to compile where the rows differ from the types. */
function programOf(rows: readonly Row[], folder: string): string {
  const source = (file: string) => `'${join(relative(folder, root), 'src', file)}'`
  const lines = [
    `import { type ActionDefinitions, action, type AttributeDefinitions, type ModelDefinitions, type DefaultAccess, type AuthOptions, type CorsOptions, type SocketOptions, type Limits, type Logger, type Schedule, defineConfig, schedule } from ${source('index.ts')}`,
    `import type { AnyConfig, Clock } from ${source('service/config/config.ts')}`,
    'type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : { actual: A; documented: B }',
    'type Type<T, K extends keyof T> = Exclude<T[K], undefined>',
    'type Group<K extends keyof AnyConfig> = Extract<Type<AnyConfig, K>, object>',
  ]
  const groups = Map.groupBy(rows, ({ option }) => option.split('.').slice(0, -1).join('.'))
  for (const [group, members] of groups) {
    const type = group === '' ? 'AnyConfig' : `Group<'${group}'>`
    const documented = members.map(({ option }) => `'${option.split('.').at(-1)}'`).join(' | ')
    lines.push(
      `export const missing${group}: never = null! as Exclude<keyof ${type}, ${documented}> // missing on the page`,
    )
    for (const { option, type: documentedType, example } of members) {
      const name = option.split('.').at(-1)
      // The parameters of these functions depend on the models.
      if (option !== 'seed' && option !== 'on')
        lines.push(`export const type_${name}: Equal<Type<${type}, '${name}'>, ${documentedType}> = true // ${option}`)
      const models = option === 'models' ? '' : "models: { pet: { attributes: { name: { type: 'string' } } } }, "
      lines.push(`export const example_${name} = defineConfig({ ${models}${example} }) // ${option}`)
    }
  }
  return `${lines.join('\n')}\n`
}

/** The problems of each page: errors of the compiler with the line of the program. All are compiled at once. */
function problemsOf(pages: readonly string[]): readonly (readonly string[])[] {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'configuration-page-'))
  try {
    const programs = pages.map((page) => programOf(rowsOf(page), folder))
    const files = programs.map((_, index) => `page-${index}.ts`)
    for (const [index, file] of files.entries()) writeFileSync(join(folder, file), `${programs[index]}`)
    const options =
      '--noEmit --strict --module preserve --target es2024 --lib es2024,esnext.disposable,esnext.iterator --types node'
    const typeRoots = join(root, 'node_modules', '@types')
    const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    const args = [
      compiler,
      ...options.split(' '),
      '--skipLibCheck',
      '--allowImportingTsExtensions',
      '--typeRoots',
      typeRoots,
      ...files,
    ]
    const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
    return programs.map((program, index) => {
      const lines = program.split('\n')
      return [...stdout.matchAll(new RegExp(`^page-${index}\\.ts\\((\\d+),\\d+\\): error \\S+: (.+)$`, 'gm'))].map(
        ([, line, message]) => `${lines[Number(line) - 1]?.split(' // ').at(-1)}: ${message}`,
      )
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test('docs/configuration.md documents every option with its type and an example that compiles; a wrong page is reported', () => {
  const page = readFileSync(pageUrl, 'utf8')
  assert.ok(rowsOf(page).length > 20, 'expected more options')
  const wrongPage = page
    .replace(/^\| `pluralize`.*\n/m, '')
    .replace('| `port` | `number` |', '| `port` | `string` |')
    .replace("`cors: { origins: '*', maxAge: 600 }`", "`cors: { origins: '*', maxage: 600 }`")
  const [problems, expected = []] = problemsOf([page, wrongPage])
  assert.deepEqual(problems, [])
  assert.equal(expected.length, 3, expected.join('\n'))
  assert.match(expected.join('\n'), /missing on the page: Type '"pluralize"' is not assignable to type 'never'/)
  assert.match(expected.join('\n'), /port: .*not assignable/)
  assert.match(expected.join('\n'), /cors\.maxAge: .*maxage/)
})

test('the defaults are those of the doc comments', () => {
  const source = readFileSync(new URL('../../src/service/config/config.ts', import.meta.url), 'utf8')
  const stated = source.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*?)\*\/\s+readonly (\w+)\?:/g)
  const documented = new Map(rowsOf(readFileSync(pageUrl, 'utf8')).map((row) => [row.option.split('.').at(-1), row]))
  let count = 0
  for (const [, comment, name] of stated) {
    const [, quoted, word] = /; default (?:`([^`]+)`|(\w+))/.exec(comment ?? '') ?? []
    const value = quoted ?? word
    if (value === undefined) continue
    count++
    const row = documented.get(`${name}`)
    assert.equal(row?.defaultValue.replaceAll(/[`']/g, ''), value, `${name}`)
  }
  assert.ok(count >= 8, `only ${count} defaults were compared`)
})
