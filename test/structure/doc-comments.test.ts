import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const src = new URL('../../src/', import.meta.url)

/** Interfaces of objects that the public functions return: their methods are part of the public API. */
const publicInterfaces: Readonly<Record<string, string>> = {
  'index.ts': 'Service',
  'model/inference/records-of.ts': 'RecordOperations',
  'model/inference/members-of.ts': 'Members',
  'model/inference/live-of.ts': 'LiveRecords',
  'storage/change-log.ts': 'ChangeLog',
}

/** Where the functions that an entry passes on are declared. */
function declarationsOf(file: string): readonly (readonly [path: string, name: string])[] {
  const source = readFileSync(new URL(file, src), 'utf8')
  const passedOn = [...source.matchAll(/^export \{([^}]*)\} from '\.\/(.+)'/gm)].flatMap(([, names, path]) =>
    (names as string)
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && !name.startsWith('type '))
      .map((name) => [path as string, name] as const),
  )
  const own = [...source.matchAll(/^export (?:async function|function|const|class) (\w+)/gm)].map(
    ([, name]) => [file, name as string] as const,
  )
  return [...passedOn, ...own]
}

/** Whether the declaration that starts at a place follows a doc comment. */
const isDocumented = (source: string, at: number): boolean => /\*\/\s*$/.test(source.slice(0, at))

function undocumentedFunctions(path: string, name: string, source: string): readonly string[] {
  const declaration = new RegExp(`^export (?:abstract )?(?:async function|function|const|class) ${name}\\b`, 'm').exec(
    source,
  )
  assert.ok(declaration, `${path} declares ${name}`)
  return isDocumented(source, declaration.index) ? [] : [`${path}: ${name}`]
}

function undocumentedMethods(path: string, name: string, source: string): readonly string[] {
  const start = source.search(new RegExp(`^export interface ${name}\\b`, 'm'))
  assert.ok(start >= 0, `${path} declares ${name}`)
  const body = source.slice(start, source.indexOf('\n}\n', start))
  const members = body.matchAll(/^ {2}(?:readonly )?(\w+)\??(?=[<(:])/gm)
  return [...members]
    .filter(({ index }) => !isDocumented(body, index))
    .map(([, member]) => `${path}: ${name}.${member}`)
}

test('every public function and method has a doc comment', () => {
  const missing: string[] = []
  for (const file of globSync('*.ts', { cwd: src })) {
    for (const [path, name] of declarationsOf(file)) {
      missing.push(...undocumentedFunctions(path, name, readFileSync(new URL(path, src), 'utf8')))
    }
  }
  for (const [path, name] of Object.entries(publicInterfaces)) {
    missing.push(...undocumentedMethods(path, name, readFileSync(new URL(path, src), 'utf8')))
  }
  assert.deepEqual(missing, [])
})

test('a missing comment is found', () => {
  assert.deepEqual(undocumentedFunctions('x.ts', 'y', 'export function y(): void {}\n'), ['x.ts: y'])
  assert.deepEqual(undocumentedFunctions('x.ts', 'y', '/** Does y. */\nexport function y(): void {}\n'), [])
  assert.deepEqual(
    undocumentedMethods('x.ts', 'Y', 'export interface Y {\n  /** A. */\n  a(): void\n  b<T>(): void\n}\n'),
    ['x.ts: Y.b'],
  )
})
