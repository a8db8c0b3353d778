import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

/** What each file directly in `src/` offers: this is the public surface, and it grows here first. */
const surface: Readonly<Record<string, { readonly values: string; readonly types: string }>> = {
  'index.ts': {
    values: 'ConfigError ServiceError createService defaultPort defineConfig',
    types:
      'AttributeDefinition AttributeDefinitions Change ChangeBatch ChangeLog Config CorsOptions CreateInput ErrorCode FindOneOptions FindOptions Found HttpServer InvalidAttributes Json JsonObject Limits LiveChange LiveEvent LiveEvents LiveOptions LivePlace ModelDefinition ModelDefinitions ModelRecords Page Position RecordId RecordOf Records Registry Requester RouteOptions Service SocketOptions Sort UpdateInput Where',
  },
  'conformance.ts': {
    values: 'serviceConformance storageConformance zoo zooModels',
    types: 'Answer Api Given Models Need Scenario Settings StorageCase StorageUnderTest Store',
  },
}

const src = new URL('../src/', import.meta.url)

/** Names that exist for the compiler only. */
function typesOf(source: string): readonly string[] {
  const declared = [...source.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name as string)
  const passedOn = [...source.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, type, names]) =>
    (names as string)
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && (type !== undefined || name.startsWith('type ')))
      .map((name) => name.replace(/^type /, '').replace(/.* as /, '')),
  )
  return [...declared, ...passedOn].sort()
}

for (const file of globSync('*.ts', { cwd: src }).sort()) {
  test(`public names of ${file}`, async (t) => {
    const values = Object.keys((await import(new URL(file, src).href)) as object).sort()
    const types = typesOf(readFileSync(new URL(file, src), 'utf8'))
    t.diagnostic(`${file}: ${values.join(' ')} | ${types.join(' ')}`)
    assert.deepEqual({ values: values.join(' '), types: types.join(' ') }, surface[file])
  })
}

test('every entry of the package is one of these files', () => {
  const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    exports: object
  }
  const entries = Object.values(exports).flatMap((entry) =>
    typeof entry === 'object' && 'types' in entry ? [entry.types] : [],
  )
  assert.deepEqual(
    entries.map((path) => String(path).replace(/^\.\/dist\/(.*)\.d\.ts$/, '$1.ts')).sort(),
    Object.keys(surface).sort(),
  )
})
