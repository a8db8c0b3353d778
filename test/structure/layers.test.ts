import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { test } from 'node:test'

/** Sources by their path below `src/`. */
type Sources = Readonly<Record<string, string>>

const layers = [
  ['protocol', 'support'],
  ['model'],
  ['sql'],
  ['criteria'],
  ['storage', 'realtime'],
  ['access', 'jobs'],
  ['operation'],
  ['service'],
  ['transport'],
  ['cli', 'conformance', 'client'],
  ['.'],
]
const layerOf = (folder: string): number => layers.findIndex((folders) => folders.includes(folder))
/** Each of these lists is the only importer of its members. */
const lists = [
  'model/types.ts',
  'model/rules.ts',
  'criteria/operators.ts',
  'operation/operations.ts',
  'cli/commands.ts',
  'conformance/scenarios.ts',
  'conformance/storage.ts',
]
/** Operators that the grammar of conditions uses itself, for lists and negation: these may be imported directly. */
const importableOperators = ['criteria/operators/in.ts', 'criteria/operators/not-equals.ts']
/** Folders whose subfolders must not import each other. */
const partedFolders = ['storage', 'transport', 'conformance']
/** Imports that are forbidden even where the layers allow them. */
const forbidden: readonly (readonly [from: RegExp, to: RegExp])[] = [
  [/^transport\//, /^(model|sql|criteria|storage|operation)\//],
  [/^(storage|operation)\//, /^protocol\/request\.ts$/],
  [/^(protocol|model|sql|criteria|storage|realtime|jobs|operation|service)\//, /^node:(http|https|net|tls|dgram)$/],
  [/^protocol\//, /^node:/],
]

interface Import {
  readonly to: string
  readonly isType: boolean
}

const folderOf = (path: string): string => posix.dirname(path).split('/')[0] as string
/** Removes comments and template literals: an import in one of them has no effect. */
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
        .filter(({ to, isType }) => !isType && to in sources && folderOf(to) !== 'support')
        .map(({ to }) => [to, list]),
    ),
  )
  for (const [path, source] of code) {
    const from = folderOf(path)
    if (layerOf(from) === -1) found.push(`${path}: no layer has a folder "${from}"`)
    if (/^\s*export\s+default\b|\bexport\s*\{[^}]*\bas\s+default\b/m.test(source))
      found.push(`${path}: has a default export`)
    if (from !== '.' && /\bexport\s+(type\s+)?(\*|\{[^}]*\})\s*from\b/.test(source))
      found.push(`${path}: passes on what is another’s`)
    if (from === 'protocol' && /\b(Buffer|process|__dirname|setImmediate)\b[.(]/.test(source))
      found.push(`${path}: uses what only Node has`)
    for (const { to, isType } of importsOf(path, source)) {
      const say = (problem: string) => found.push(`${path} -> ${to}: ${problem}`)
      if (forbidden.some(([a, b]) => a.test(path) && b.test(to))) say('this import is forbidden')
      const own = members.get(path)
      if (members.has(to) && members.get(to) !== path && !importableOperators.includes(to))
        say(`only ${members.get(to)} imports this`)
      if (own !== undefined && own === members.get(to)) say('members of one list do not import each other')
      if (!(to in sources)) continue
      const [below, folder] = [layerOf(folderOf(to)), folderOf(to)]
      if (below > layerOf(from)) say('imports upwards')
      if (below === layerOf(from) && folder !== from && below > 0) say('folders of one layer do not import each other')
      const [part, other] = [path.split('/'), to.split('/')]
      if (
        folder === from &&
        partedFolders.includes(folder) &&
        part.length > 2 &&
        other.length > 2 &&
        part[1] !== other[1]
      )
        say('parts of one folder do not import each other')
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

const src = new URL('../../src/', import.meta.url)
const ours: Sources = Object.fromEntries(
  globSync('**/*.ts', { cwd: src })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !/\.(test|types)\.ts$/.test(path))
    .map((path) => [path, readFileSync(new URL(path, src), 'utf8')]),
)

test('imports go downwards only', () => {
  assert.ok(Object.keys(ours).length > 100, 'expected more than 100 sources')
  for (const list of lists) assert.ok(importsOf(list, ours[list] ?? '').length > 1, `${list} lists something`)
  assert.deepEqual(violations(ours), [])
})

const planted: readonly (readonly [problem: RegExp, path: string, source: string])[] = [
  [/imports upwards/, 'model/x.ts', "import { toSql } from '../criteria/to-sql.ts'"],
  [/imports upwards/, 'support/x.ts', "import type { Model } from '../model/model.ts'"],
  [/imports upwards/, 'service/x.ts', "const lazy = () => import('../transport/http/listen.ts')"],
  [/imports upwards/, 'service/x.ts', "export const y = 1\nimport '../index.ts'"],
  [
    /folders of one layer do not import each other/,
    'realtime/x.ts',
    "import { SqlStore } from '../storage/sql-store.ts'",
  ],
  [/folders of one layer do not import each other/, 'conformance/x.ts', "import {\n  main,\n} from '../cli/main.ts'"],
  [
    /parts of one folder do not import each other/,
    'storage/sqlite/x.ts',
    "import { openPostgres } from '../postgres/open.ts'",
  ],
  [
    /parts of one folder do not import each other/,
    'storage/memory/x.ts',
    "import { sqliteDialect } from '../sqlite/dialect.ts'",
  ],
  [
    /parts of one folder do not import each other/,
    'transport/socket/x.ts',
    "import { listen } from '../http/listen.ts'",
  ],
  [/this import is forbidden/, 'transport/http/x.ts', "import type { Model } from '../../model/model.ts'"],
  [/this import is forbidden/, 'transport/http/x.ts', "import type { Store } from '../../storage/store.ts'"],
  [/this import is forbidden/, 'operation/x.ts', "import { createServer } from 'node:http'"],
  [/this import is forbidden/, 'storage/x.ts', "import type { ServiceRequest } from '../protocol/request.ts'"],
  [/this import is forbidden/, 'protocol/x.ts', "import { createHash } from 'node:crypto'"],
  [/what only Node has/, 'protocol/x.ts', "export const bytes = Buffer.from('x')"],
  [/only operation\/operations.ts imports this/, 'service/x.ts', "import { find } from '../operation/find.ts'"],
  [/members of one list do not import each other/, 'operation/find.ts', "import { findOne } from './find-one.ts'"],
  [
    /members of one list do not import each other/,
    'criteria/operators/in.ts',
    "import { notEquals } from './not-equals.ts'",
  ],
  [/only criteria\/operators.ts imports this/, 'storage/x.ts', "import { like } from '../criteria/operators/text.ts'"],
  [/only model\/types.ts imports this/, 'model/x.ts', "import { uuid } from './types/uuid.ts'"],
  [/has a default export/, 'model/x.ts', 'export default class {}'],
  [/has a default export/, 'model/x.ts', 'const y = 1\nexport { y as default }'],
  [/passes on what is another’s/, 'model/index.ts', "export { defineModels } from './define.ts'"],
  [/passes on what is another’s/, 'model/index.ts', "export * from './define.ts'"],
  [/a client knows the protocol only/, 'client/x.ts', "import { defineModels } from '../model/define.ts'"],
  [/a client knows the protocol only/, 'client/x.ts', "import type { Store } from '../storage/store.ts'"],
  [/no layer has a folder/, 'utils/x.ts', 'export const y = 1'],
]
for (const [problem, path, source] of planted) {
  test(`reports a violation: ${path}, ${source.replaceAll('\n', ' ')}`, () => {
    const found = violations({ ...ours, [path]: source }).filter((text) => text.startsWith(path))
    assert.ok(
      found.some((text) => problem.test(text)),
      `found ${JSON.stringify(found)}`,
    )
  })
}

test('reports nothing for allowed imports', () => {
  const allowed: Sources = {
    'client/x.ts':
      "import { problem } from '../protocol/errors.ts'\nimport type { Where } from '../model/inference/where-of.ts'",
    'protocol/x.ts': "import { assertDefined } from '../support/assert.ts'",
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
