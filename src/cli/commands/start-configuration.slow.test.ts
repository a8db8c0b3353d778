import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Command, folder, petShop } from '../../../test/support/command.ts'

describe('a wrong configuration is reported with all problems and exit code 78', () => {
  const config = (text: string) => ({ 'keelson.config.ts': `import { defineConfig } from 'keelson'\n${text}` })
  const pet = petShop['models/pet.ts']
  const cases: readonly (readonly [what: string, files: Readonly<Record<string, string>>, ...expected: RegExp[]])[] = [
    [
      'several mistakes',
      config(`export default { prot: 1, migrate: 'never',
        models: { pet: { attributes: { owner: { model: 'ownr' }, age: { type: 'nmber' } } } } }`),
      /The configuration has 4 problems/,
      /there is no setting "prot"/,
      /migrate must be "add" or "safe" or "drop"/,
      /pet\.owner: there is no model "ownr"/,
      /pet\.age: there is no type "nmber"/,
    ],
    ['no default export', config('export const models = {}'), /has no default export/],
    ['a default export of another type', config('export default 7'), /the configuration must be an object/],
    ['a function', config('export default () => ({ models: {} })'), /and this is a function: export what it returns/],
    [
      'a service',
      config(
        "import { createService } from 'keelson'\nexport default await createService({ database: 'memory:', models: { pet: { attributes: {} } } })",
      ),
      /✗ The configuration has one problem\n +the configuration is a service: export what createService is given/,
    ],
    ['a default export that is null', config('export default null'), /the configuration must be an object/],
    ['no configuration', {}, /No keelson\.config\.ts found in this folder/, /keelson init writes one/],
    [
      'an enum',
      { ...petShop, 'models/pet.ts': `${pet}enum Kind { dog }` },
      /models\/pet\.ts:8: TypeScript enum is not supported here/,
      /enum Kind/,
      /Replace an enum/,
    ],
    ['a syntax error', { ...petShop, 'models/pet.ts': 'export const pet = {' }, /models\/pet\.ts:1: /],
    [
      'a syntax error of JavaScript in an imported file',
      {
        'package.json': '{ "type": "module" }',
        'keelson.config.js': "import './pet.js'",
        'pet.js': 'export const pet = {\n  attributes: }\n',
      },
      /✗ pet\.js:2: Unexpected token '\}'\n +attributes: \}\n +\^/,
    ],
    [
      'a name that is declared twice',
      { ...petShop, 'package.json': '{ "type": "module" }', 'models/pet.ts': `${pet}\nconst pet: number = 1` },
      /✗ models\/pet\.ts:\d+: Identifier 'pet' has already been declared\n/,
    ],
    [
      'a missing file',
      { 'keelson.config.ts': petShop['keelson.config.ts'] },
      /File not found: models\/pet\.ts, imported by keelson\.config\.ts/,
    ],
    [
      'an import without the file extension',
      { ...petShop, 'keelson.config.ts': petShop['keelson.config.ts'].replace('pet.ts', 'pet') },
      /Imports need the complete file name: models\/pet\.ts/,
    ],
    [
      'an import that names what a compiler would write',
      { ...petShop, 'keelson.config.ts': petShop['keelson.config.ts'].replace('pet.ts', 'pet.js') },
      /Imports need the complete file name: models\/pet\.ts/,
    ],
    [
      'an import of a missing export',
      { ...petShop, 'models/pet.ts': 'export const cat = {}' },
      /does not provide an export named 'pet'/,
    ],
    [
      'a missing package',
      config("import 'nowhere-to-be-found'"),
      /Package not found: "nowhere-to-be-found", imported by keelson\.config\.ts/,
    ],
    [
      'a misspelt name of this package',
      config("import 'keelsen/client'"),
      /Package not found: "keelsen", imported by keelson\.config\.ts\n\n +Did you mean "keelson"\?/,
    ],
    [
      'an alias of a compiler for a folder',
      config("import '@/models/pet'"),
      /Package not found: "@\/models"/,
      /does not read `paths` of tsconfig\.json: import the file by its path/,
    ],
    [
      'a path without ./',
      { ...petShop, 'keelson.config.ts': petShop['keelson.config.ts'].replace('./models', 'models') },
      /Package not found: "models", imported by keelson\.config\.ts\n\n +A path begins with ".\/"/,
    ],
    [
      'files that import each other',
      {
        'keelson.config.ts': "import { owner } from './owner.ts'\nexport default { models: { owner } }",
        'owner.ts': "import { pet } from './pet.ts'\nexport const owner = { pet }",
        'pet.ts': "import { owner } from './owner.ts'\nexport const pet = { owner }",
      },
      /✗ pet\.ts:2:\d+: ReferenceError: Cannot access 'owner'/,
      /"owner" is used before it has a value\. .*\{ model: 'owner' \} needs no import/,
    ],
    [
      'JSON without an attribute',
      { ...config("import models from './models.json'\nexport default { models }"), 'models.json': '{}' },
      /✗ models\.json: Node imports this file with an attribute only\n\n +import … from '…' with \{ type: 'json' \}/,
    ],
    [
      'a file that Node cannot import',
      { ...config("import './pet.tsx'"), 'pet.tsx': '' },
      /✗ pet\.tsx: Node cannot import files that end with \.tsx/,
    ],
    [
      'an import of a folder',
      { ...config("import './models'"), 'models/index.ts': '' },
      /✗ models is a folder, imported by keelson\.config\.ts\n\n +Imports need the complete file name: models\/index\.ts/,
    ],
    ['a folder with the name of a configuration', { 'keelson.config.ts/a': '' }, /✗ keelson\.config\.ts is a folder\n/],
    [
      'a parameter property',
      config('class Pet { constructor(readonly name: string) {} }'),
      /parameter property is not supported here/,
      /removing the types.*assign it in the constructor\./,
    ],
    [
      'a promise that nothing resolves',
      config('await new Promise(() => {})'),
      /keelson\.config\.ts waits for a promise that nothing resolves/,
    ],
    ['a broken package.json', { ...petShop, 'package.json': '{,}' }, /✗ package\.json: not valid JSON/],
    ['an error thrown by the configuration', config('null.x'), /keelson\.config\.ts:2:\d+: TypeError/],
    [
      'a database that is not set',
      config('export default { database: process.env.NOT_SET, models: { pet: {} } }'),
      /database is undefined.*Set it, or write/,
    ],
    [
      'an unknown database',
      config("export default { database: 'oracle:x', models: { pet: {} } }"),
      /"oracle:" is not a supported database/,
    ],
  ]
  for (const [what, files, ...expected] of cases) {
    test(what, async () => {
      const { code, stderr } = await Command.run(['start', '--port', '0'], { cwd: folder(files) })
      for (const pattern of expected) assert.match(stderr, pattern)
      assert.doesNotMatch(stderr, /\n\s+at /)
      assert.equal(code, 78)
    })
  }

  test('with --json it is one object', async () => {
    const cwd = folder(config('export default { models: { pet: { attributes: { a: { type: 1 } } } }, prefix: 7 }'))
    const command = new Command(['start', '--json'], { cwd })
    const { code, stderr } = await command.ended
    assert.equal(((command.events[0]?.problems ?? []) as readonly string[]).length, 2)
    assert.deepEqual({ code, stderr, printed: command.events.length }, { code: 78, stderr: '', printed: 1 })
  })
})
