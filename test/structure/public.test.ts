import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

/** What each file directly in `src/` exports. This is the public API; an addition starts here. */
const surface: Readonly<Record<string, { readonly values: string; readonly types: string }>> = {
  'index.ts': {
    values:
      'ConfigError ServiceError action actionFor createService defaultPort defineConfig file job loadModels refuse reply schedule webhook',
    types:
      'AccessDefinition ActionContext ActionDefinition ActionDefinitions ActionFile ActionReply Actor AttributeAccess AttributeDefinition AttributeDefinitions AuthOptions AuthRequest Change ChangeBatch ChangeHookContext ChangeLog Config CorsOptions CreateInput DeadLetterSelection DeadLetterSummary DefaultAccess ErrorCode EventJobContext FileOptions FindOneOptions FindOptions Found HookContext HookDefinitions HttpServer IndexDefinition IndexOptions InvalidAttributes Job JobContext JobControl JobEvent JobOptions JobSummary Json JsonObject JwtOptions Limits LiveChange LiveEvent LiveEvents LiveOptions LivePlace LiveQueryOptions LiveResult LiveResults Logger ModelDefinition ModelDefinitions ModelRecords Page Position RecordId RecordOf RecordOperations Records Registry ReplyOptions RouteOptions Rule RuleCondition RuleContext RuleOutcome Schedule ScheduleContext ScheduleTimes SchemaStep Service SocketOptions Sort TokenClaims TransactionRecords UpdateInput User Webhook WebhookOptions Where WithinContext',
  },
  'client.ts': {
    values:
      'ConflictError ForbiddenError InvalidError NetworkError NotFoundError RequestError UnauthenticatedError UnavailableError createClient',
    types:
      'BatchRecords CallOptions Client ClientOptions ClientRecords ConflictingWrite Live LiveOptions LiveSnapshot LiveStatus ModelsOf Outbox OutboxOptions OutboxStorage WriteOptions',
  },
  'react.ts': { values: 'useLive useRecord useWrite', types: 'RecordSnapshot WriteState' },
  'conformance.ts': {
    values: 'serviceConformance storageConformance zoo zooModels',
    types: 'Answer Api Given Models Need Scenario Settings StorageCase StorageUnderTest Store',
  },
}

const src = new URL('../../src/', import.meta.url)

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

test('every entry point of the package is one of these files', () => {
  const { exports } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
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
