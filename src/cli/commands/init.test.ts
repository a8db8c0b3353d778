import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, test } from 'node:test'
import { ask, Command, folder, post } from '../../../test/support/command.ts'

const readAll = (path: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(path, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((file) => [relative(path, file), readFileSync(file, 'utf8')]),
  )

describe('keelson init', () => {
  test('creates a project that can be served', async () => {
    const cwd = folder()
    const { code, stdout } = await Command.run(['init'], { cwd })
    assert.equal(code, 0)
    assert.deepEqual(
      [...stdout.matchAll(/\+ (\S+)/g)].map(([, name]) => name),
      ['keelson.config.ts', 'tsconfig.json', '.gitignore', 'package.json'],
    )
    assert.match(stdout, /npm install .*\n.*npm install -D typescript .*npx tsc.*\n.*npx keelson dev/)

    const command = new Command(['start', '--port', '0'], { cwd })
    const url = await command.url()
    const { id } = await post(`${url}/person`, { name: 'Ann', email: 'ann@example.com' })
    await post(`${url}/task`, { title: 'Feed the cat', person: id as number })
    const [person] = await ask(`${url}/person`)
    assert.deepEqual(
      ((person?.tasks ?? []) as readonly { readonly title: string }[]).map(({ title }) => title),
      ['Feed the cat'],
    )
    assert.equal(command.stderr, '')
  })

  test('reads a package.json that begins with a byte order mark, as npm does', async () => {
    const cwd = folder({ 'package.json': '\uFEFF{"name":"mine"}' })
    assert.equal((await Command.run(['init'], { cwd })).code, 0)
    const { name, scripts } = JSON.parse(readAll(cwd)['package.json'] as string)
    assert.deepEqual([name, Object.keys(scripts)], ['mine', ['dev', 'start']])
  })

  test('adds missing scripts to package.json and overwrites nothing', async () => {
    const existing = {
      '.gitignore': 'secret\n',
      'tsconfig.json': '{}\n',
      'package.json': '{\n    "name": "mine",\n    "type": "commonjs",\n    "scripts": { "start": "node app.js" }\n}\n',
    }
    const cwd = folder(existing)
    const command = new Command(['init', '--json'], { cwd })
    assert.equal((await command.ended).code, 0)
    assert.deepEqual(command.events, [{ event: 'created', files: ['keelson.config.ts'], scripts: ['dev'] }])
    const { 'package.json': manifest, 'keelson.config.ts': config, ...others } = readAll(cwd)
    assert.deepEqual(others, { '.gitignore': 'secret\n', 'tsconfig.json': '{}\n' })
    assert.deepEqual(JSON.parse(manifest as string), {
      name: 'mine',
      type: 'commonjs',
      scripts: { dev: 'keelson dev', start: 'node app.js' },
    })
    assert.match(manifest as string, /^ {4}"name"/m)

    assert.match((await Command.run(['init'], { cwd: folder(existing) })).stdout, /echo data\/ >> \.gitignore/)
    const ignored = folder({ ...existing, '.gitignore': 'secret\r\n/data/\r\n' })
    assert.doesNotMatch((await Command.run(['init'], { cwd: ignored })).stdout, /gitignore$/)

    // What `npm init` writes: Node then refuses `import` in the configuration, where another program imports it.
    const step = /npm pkg set type=module/
    assert.match((await Command.run(['init'], { cwd: folder(existing) })).stdout, step)
    assert.doesNotMatch((await Command.run(['init'], { cwd: folder({ 'package.json': '{}' }) })).stdout, step)

    const typed = folder({ 'package.json': '{ "devDependencies": { "typescript": "^7.0.2" } }' })
    assert.doesNotMatch((await Command.run(['init'], { cwd: typed })).stdout, /typescript/)

    const { code, stderr } = await Command.run(['init'], { cwd })
    assert.match(stderr, /keelson\.config\.ts exists already and was not changed/)
    assert.equal(code, 1)
    assert.equal(readAll(cwd)['keelson.config.ts'], config)
  })

  test('writes a configuration that serves the models of a Sails application', async () => {
    const cwd = folder({
      'package.json': '{ "name": "app", "dependencies": { "sails": "^1.5.0" } }',
      'api/models/Room.js':
        "module.exports = { attributes: { name: { type: 'string', maxLength: 9 } }, customToJSON() {} }",
      'config/models.js':
        "module.exports.models = { attributes: { createdAt: { type: 'number', autoCreatedAt: true } } }",
      'config/policies.js': "module.exports.policies = {\n  // '*': true,\n  'room/*': 'is-logged-in',\n}",
      'config/blueprints.js':
        "module.exports.blueprints = { actions: false, prefix: '/api', shortcuts: false, // rest: true,\n" +
        "  // prefix: '/old',\n  rest: false, populate: false,\n  jsonp: false }",
    })
    assert.equal((await Command.run(['init'], { cwd })).code, 0)
    const command = new Command(['start', '--port', '0'], { cwd })
    const url = await command.url()
    const room = await post(`${url}/api/room`, { name: 'lobby', unknown: 1 })
    assert.equal(typeof room.createdAt, 'number')
    assert.equal((await fetch(`${url}/api/room/create?name=hall`)).status, 404)
    assert.match(
      readFileSync(join(cwd, 'keelson.config.ts'), 'utf8'),
      /populate: false,\n {2}jsonp: false,\n.*policies\.js/,
    )
    assert.match(command.stdout, /Functions that are not run: room\.customToJSON\./)
  })

  test('states which options of config/blueprints.js are expressions, which are not copied', async () => {
    const cwd = folder({
      'package.json': '{ "name": "app", "dependencies": { "sails": "^1.5.0" } }',
      'api/models/Room.js': 'module.exports = { attributes: {} }',
      'config/blueprints.js':
        "module.exports.blueprints = {\n  prefix: process.env.BASE_PATH || '',\n  restPrefix: '',\n  pluralize: true // as before\n" +
        '  , // shortcuts: isOpen(),\n  actions: x(),\n}',
    })
    assert.equal((await Command.run(['init'], { cwd })).code, 0)
    const config = readFileSync(join(cwd, 'keelson.config.ts'), 'utf8')
    assert.match(
      config,
      /\n {2}\/\/ Set as in config\/blueprints\.js, where they are expressions: prefix\n {2}pluralize: true,\n\}\)/,
    )
  })

  test('leaves out the columns that config/models.js of Sails 0.x turns off for all models', async () => {
    const cwd = folder({
      'package.json': '{ "name": "app", "dependencies": { "sails": "~0.12.14" } }',
      'api/models/Room.js': "module.exports = { attributes: { code: { type: 'string', primaryKey: true } } }",
      'config/models.js':
        "module.exports.models = {\n  migrate: 'safe', autoPK: false,\n  autoCreatedAt: false,\n  // autoUpdatedAt: false\n}",
    })
    assert.equal((await Command.run(['init'], { cwd })).code, 0)
    assert.match(
      readFileSync(join(cwd, 'keelson.config.ts'), 'utf8'),
      /\n {2}attributes: \{ id: false, createdAt: false \},\n/,
    )
    const url = await new Command(['start', '--port', '0'], { cwd }).url()
    assert.deepEqual(Object.keys(await post(`${url}/room`, { code: 'a' })), ['code', 'updatedAt'])
  })

  test('and the attributes that it declares for all models', async () => {
    const cwd = folder({
      'package.json': '{ "name": "app", "dependencies": { "sails": "~0.12.14" } }',
      'api/models/Room.js': 'module.exports = { attributes: {} }',
      'config/models.js':
        "module.exports.models = { autoCreatedAt: false, autoUpdatedAt: false, attributes: { tenant: 'string', updatedAt: 'date' } }",
    })
    assert.equal((await Command.run(['init'], { cwd })).code, 0)
    const url = await new Command(['start', '--port', '0'], { cwd }).url()
    assert.deepEqual(Object.keys(await post(`${url}/room`, { tenant: 'a' })).sort(), ['id', 'tenant', 'updatedAt'])
  })

  test('states which lifecycle callbacks of config/models.js do not run', async () => {
    const manifest = '{ "name": "app", "dependencies": { "sails": "^1.5.0" } }'
    const files = (callbacks: string) => ({
      'package.json': manifest,
      'api/models/Room.js': 'module.exports = { attributes: {} }',
      'config/models.js': `module.exports.models = { attributes: {}, ${callbacks} }`,
    })
    const configOf = async (callbacks: string) => {
      const cwd = folder(files(callbacks))
      assert.equal((await Command.run(['init'], { cwd })).code, 0)
      return readFileSync(join(cwd, 'keelson.config.ts'), 'utf8')
    }
    const stated = /\/\/ Those of config\/models\.js, beforeCreate and afterUpdate, do not run/
    assert.match(await configOf('beforeCreate(values, next) { next() }, afterUpdate: () => {}'), stated)
    assert.doesNotMatch(await configOf('\n// beforeCreate(values, next) { next() },\n'), /config\/models\.js,/)
  })

  test('states that the records of a Sails application are in another database', async () => {
    const configOf = async (datastores: string) => {
      const cwd = folder({
        'package.json': '{ "name": "app", "dependencies": { "sails": "^1.5.0" } }',
        'api/models/Room.js': 'module.exports = { attributes: {} }',
        'config/datastores.js': `module.exports.datastores = { default: {\n${datastores}\n} }`,
      })
      assert.equal((await Command.run(['init'], { cwd })).code, 0)
      return readFileSync(join(cwd, 'keelson.config.ts'), 'utf8')
    }
    assert.match(
      await configOf("adapter: 'sails-mysql', url: 'mysql://u:p@host/shop',"),
      /is new: the records .* configuration \(sails-mysql\)/,
    )
    assert.match(await configOf('adapter: require("sails-mongo")'), /\(sails-mongo\)/)
    assert.match(await configOf("adapter: process.env.ADAPTER || 'sails-mysql'"), /\(sails-mysql\)/)
    assert.match(await configOf("adapter: 'sails-postgresql'"), /records of the application are in PostgreSQL: the URL/)
    assert.doesNotMatch(await configOf("// adapter: 'sails-mysql',"), /The records of the application/)
    // Sessions and sockets have adapters, too: config/env/production.js sets them beside those of the databases.
    assert.match(
      await configOf(
        "adapter: 'sails-postgresql'\n}, session: { adapter: 'connect-redis' }, sockets: { adapter: 'socket.io-redis'",
      ),
      /records of the application are in PostgreSQL: the URL/,
    )
  })

  test('states that the records of a Sails application are in the folder of its default adapter', async () => {
    const cwd = folder({
      'package.json': '{ "name": "app", "dependencies": { "sails": "^1.5.0" } }',
      'api/models/Room.js': 'module.exports = { attributes: {} }',
      'config/datastores.js': 'module.exports.datastores = { default: {} }',
      '.tmp/localDiskDb/room.db': '{"name":"lobby","id":1,"_id":1}\n',
    })
    assert.equal((await Command.run(['init'], { cwd })).code, 0)
    assert.match(readFileSync(join(cwd, 'keelson.config.ts'), 'utf8'), /is new: the records .* \(sails-disk\)/)
  })

  test('states that routes are served which a Sails application without routes of its models has turned off', async () => {
    const configOf = async (blueprints: string) => {
      const cwd = folder({
        'package.json': '{ "name": "app", "dependencies": { "sails": "^1.5.0" } }',
        'api/models/Room.js': 'module.exports = { attributes: {} }',
        'config/blueprints.js': `module.exports.blueprints = { ${blueprints} }`,
      })
      assert.equal((await Command.run(['init'], { cwd })).code, 0)
      return readFileSync(join(cwd, 'keelson.config.ts'), 'utf8')
    }
    const stated = /`rest: false` of config\/blueprints\.js .*\n.* may read and write everything/
    assert.match(await configOf('rest: false, shortcuts: false'), stated)
    assert.doesNotMatch(await configOf('rest: false'), stated)
    assert.doesNotMatch(await configOf('shortcuts: false'), stated)
  })

  for (const [what, files, message] of [
    ['a configuration of another kind', { 'keelson.config.mjs': 'export default {}' }, /keelson\.config\.mjs exists/],
    ['a broken package.json', { 'package.json': '{ "name": ' }, /package\.json is not a JSON object/],
    [
      'a folder package.json',
      { 'package.json/a': '' },
      /package\.json cannot be read in \S+: it is a folder\. Nothing/,
    ],
    ['a folder .gitignore', { '.gitignore/a': '' }, /\.gitignore cannot be read in \S+: it is a folder\. Nothing/],
    ['a package.json that is no object', { 'package.json': '[]' }, /package\.json is not a JSON object/],
  ] as const) {
    test(`writes nothing beside ${what}`, async () => {
      const cwd = folder(files)
      const { code, stderr } = await Command.run(['init'], { cwd })
      assert.match(stderr, message)
      assert.equal(code, 1)
      assert.deepEqual(readAll(cwd), files)
    })
  }
})

for (const name of ['keelson.config.mts', 'keelson.config.cts'])
  test(`${name} is found`, async () => {
    const cwd = folder({
      [name]: name.endsWith('cts')
        ? 'module.exports = { models: { pet: {} } }'
        : 'export default { models: { pet: {} } }',
    })
    assert.match((await Command.run(['routes', '--json'], { cwd })).stdout, /"model":"pet"/)
  })

test('a configuration in a package of type "commonjs" may use import, and CommonJS files stay CommonJS', async () => {
  const cwd = folder({
    'package.json': '{ "type": "commonjs" }',
    'keelson.config.ts': `import { pet } from './pet.ts'\nimport owner from './owner.js'\nexport default { models: { pet, owner } }\n`,
    'pet.ts': `export const pet = { attributes: {} } as const\n`,
    'owner.js': `module.exports = { attributes: {} }\n`,
  })
  const { code, stdout } = await Command.run(['routes', '--json'], { cwd })
  assert.equal(code, 0)
  assert.match(stdout, /"model":"pet"/)
  assert.match(stdout, /"model":"owner"/)
})
