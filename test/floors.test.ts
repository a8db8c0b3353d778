import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { test } from 'node:test'

/** Sources by their path below `src/`. */
type Sources = Readonly<Record<string, string>>

const floors = [
  ['protocol', 'support'],
  ['model'],
  ['sql'],
  ['criteria'],
  ['storage', 'realtime'],
  ['operation'],
  ['service'],
  ['transport'],
  ['cli', 'conformance', 'client'],
  ['.'],
]
const floorOf = (folder: string): number => floors.findIndex((folders) => folders.includes(folder))
/** Each is the only one who imports what it lists. */
const lists = [
  'model/types.ts',
  'model/rules.ts',
  'criteria/modifiers.ts',
  'operation/operations.ts',
  'cli/commands.ts',
  'conformance/scenarios.ts',
  'conformance/storage.ts',
]
/** What a list of values means, and the opposite of one, belongs to the grammar as well: these may be used by their names. */
const wordsOfTheGrammar = ['criteria/modifiers/in.ts', 'criteria/modifiers/not-equals.ts']
/** Folders whose parts are strangers to each other. */
const partedFolders = ['storage', 'transport', 'conformance']
/** Who must not know what, whatever the floors allow. */
const strangers: readonly (readonly [from: RegExp, to: RegExp])[] = [
  [/^transport\//, /^(model|sql|criteria|storage|operation)\//],
  [/^(storage|operation)\//, /^protocol\/request\.ts$/],
  [/^(protocol|model|sql|criteria|storage|realtime|operation|service)\//, /^node:(http|https|net|tls|dgram)$/],
  [/^protocol\//, /^node:/],
]

interface Import {
  readonly to: string
  readonly isType: boolean
}

const folderOf = (path: string): string => posix.dirname(path).split('/')[0] as string
/** Without comments and templates: an import in one of them imports nothing. */
const codeOf = (source: string): string =>
  source.replace(/^\s*(\/\*[\s\S]*?\*\/|\/\/.*)$/gm, '').replace(/`(?:[^`\\]|\\.)*`/g, '``')

function importsOf(path: string, source: string): readonly Import[] {
  const found = source.matchAll(
    /(?:^|\n)\s*(?:import|export)\b(\s+type\b)?[^'"`;=]*?(?:\bfrom\s*)?'([^'\n]+)'|\bimport\('([^'\n]+)'\)/g,
  )
  return [...found].map(([, type, name, lazy]) => {
    const to = (name ?? lazy) as string
    return { to: to.startsWith('.') ? posix.join(posix.dirname(path), to) : to, isType: type !== undefined }
  })
}

function violations(sources: Sources): readonly string[] {
  const found: string[] = []
  const code = Object.entries(sources).map(([path, source]) => [path, codeOf(source)] as const)
  const members = new Map(
    lists.flatMap((list) =>
      importsOf(list, sources[list] ?? '')
        .filter(({ to, isType }) => !isType && to in sources)
        .map(({ to }) => [to, list]),
    ),
  )
  for (const [path, source] of code) {
    const from = folderOf(path)
    if (floorOf(from) === -1) found.push(`${path}: no floor has a folder "${from}"`)
    if (/^\s*export\s+default\b|\bexport\s*\{[^}]*\bas\s+default\b/m.test(source))
      found.push(`${path}: has a default export`)
    if (from !== '.' && /\bexport\s+(type\s+)?(\*|\{[^}]*\})\s*from\b/.test(source))
      found.push(`${path}: passes on what is another’s`)
    if (from === 'protocol' && /\b(Buffer|process|__dirname|setImmediate)\b[.(]/.test(source))
      found.push(`${path}: uses what only Node has`)
    for (const { to, isType } of importsOf(path, source)) {
      const say = (problem: string) => found.push(`${path} -> ${to}: ${problem}`)
      if (strangers.some(([a, b]) => a.test(path) && b.test(to))) say('these are strangers')
      const own = members.get(path)
      if (members.has(to) && members.get(to) !== path && !wordsOfTheGrammar.includes(to))
        say(`only ${members.get(to)} imports this`)
      if (own !== undefined && own === members.get(to)) say('members of one list do not import each other')
      if (!(to in sources)) continue
      const [below, folder] = [floorOf(folderOf(to)), folderOf(to)]
      if (below > floorOf(from)) say('imports upwards')
      if (below === floorOf(from) && folder !== from && below > 0) say('folders on one floor are strangers')
      const [part, other] = [path.split('/'), to.split('/')]
      if (
        folder === from &&
        partedFolders.includes(folder) &&
        part.length > 2 &&
        other.length > 2 &&
        part[1] !== other[1]
      )
        say('parts of one folder are strangers')
      if (
        from === 'client' &&
        folder !== 'client' &&
        folder !== 'protocol' &&
        !(isType && ['model', 'criteria'].includes(folder))
      )
        say('a client knows the protocol only')
    }
  }
  return found
}

const src = new URL('../src/', import.meta.url)
const ours: Sources = Object.fromEntries(
  globSync('**/*.ts', { cwd: src })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !/\.(test|types)\.ts$/.test(path))
    .map((path) => [path, readFileSync(new URL(path, src), 'utf8')]),
)

test('every file stays on its floor', () => {
  assert.ok(Object.keys(ours).length > 100, 'the sources were found')
  for (const list of lists) assert.ok(importsOf(list, ours[list] ?? '').length > 1, `${list} lists something`)
  assert.deepEqual(violations(ours), [])
})

const planted: readonly (readonly [problem: RegExp, path: string, source: string])[] = [
  [/imports upwards/, 'model/x.ts', "import { toSql } from '../criteria/to-sql.ts'"],
  [/imports upwards/, 'support/x.ts', "import type { Model } from '../model/model.ts'"],
  [/imports upwards/, 'service/x.ts', "const lazy = () => import('../transport/http/listen.ts')"],
  [/imports upwards/, 'service/x.ts', "export const y = 1\nimport '../index.ts'"],
  [/folders on one floor are strangers/, 'realtime/x.ts', "import { SqlStore } from '../storage/sql-store.ts'"],
  [/folders on one floor are strangers/, 'conformance/x.ts', "import {\n  main,\n} from '../cli/main.ts'"],
  [/parts of one folder are strangers/, 'storage/sqlite/x.ts', "import { openPostgres } from '../postgres/open.ts'"],
  [/parts of one folder are strangers/, 'storage/memory/x.ts', "import { sqliteDialect } from '../sqlite/dialect.ts'"],
  [/parts of one folder are strangers/, 'transport/socket/x.ts', "import { listen } from '../http/listen.ts'"],
  [/these are strangers/, 'transport/http/x.ts', "import type { Model } from '../../model/model.ts'"],
  [/these are strangers/, 'transport/http/x.ts', "import type { Store } from '../../storage/store.ts'"],
  [/these are strangers/, 'operation/x.ts', "import { createServer } from 'node:http'"],
  [/these are strangers/, 'storage/x.ts', "import type { ServiceRequest } from '../protocol/request.ts'"],
  [/these are strangers/, 'protocol/x.ts', "import { createHash } from 'node:crypto'"],
  [/what only Node has/, 'protocol/x.ts', "export const bytes = Buffer.from('x')"],
  [/only operation\/operations.ts imports this/, 'service/x.ts', "import { find } from '../operation/find.ts'"],
  [/members of one list do not import each other/, 'operation/find.ts', "import { findOne } from './find-one.ts'"],
  [
    /members of one list do not import each other/,
    'criteria/modifiers/in.ts',
    "import { notEquals } from './not-equals.ts'",
  ],
  [/only criteria\/modifiers.ts imports this/, 'storage/x.ts', "import { like } from '../criteria/modifiers/text.ts'"],
  [/only model\/types.ts imports this/, 'model/x.ts', "import { uuid } from './types/uuid.ts'"],
  [/has a default export/, 'model/x.ts', 'export default class {}'],
  [/has a default export/, 'model/x.ts', 'const y = 1\nexport { y as default }'],
  [/passes on what is another’s/, 'model/index.ts', "export { defineModels } from './define.ts'"],
  [/passes on what is another’s/, 'model/index.ts', "export * from './define.ts'"],
  [/a client knows the protocol only/, 'client/x.ts', "import { defineModels } from '../model/define.ts'"],
  [/a client knows the protocol only/, 'client/x.ts', "import type { Store } from '../storage/store.ts'"],
  [/no floor has a folder/, 'utils/x.ts', 'export const y = 1'],
]
for (const [problem, path, source] of planted) {
  test(`a violation is found: ${path}, ${source.replaceAll('\n', ' ')}`, () => {
    const found = violations({ ...ours, [path]: source }).filter((text) => text.startsWith(path))
    assert.ok(
      found.some((text) => problem.test(text)),
      `found ${JSON.stringify(found)}`,
    )
  })
}

test('what is allowed is not found', () => {
  const allowed: Sources = {
    'client/x.ts': "import { problem } from '../protocol/errors.ts'\nimport type { Where } from '../model/where-of.ts'",
    'protocol/x.ts': "import { must } from '../support/assert.ts'",
    'model/x.ts':
      "// import { toSql } from '../criteria/to-sql.ts'\n/** export default */\nimport { createHash } from 'node:crypto'",
    'transport/http/y.ts': "import { json } from './body/json.ts'\nimport { createServer } from 'node:http'",
    'storage/sqlite/y.ts': "import { SqlStore } from '../sql-store.ts'",
  }
  const paths = Object.keys(allowed)
  assert.deepEqual(
    violations({ ...ours, ...allowed }).filter((text) => paths.some((path) => text.startsWith(path))),
    [],
  )
})
