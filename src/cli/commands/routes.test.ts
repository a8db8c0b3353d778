import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Command, folder, petShop } from '../../../test/support/command.ts'

const twoModels = {
  'keelson.config.ts': `export default {
    prefix: '/api', pluralize: true,
    models: {
      pet: { attributes: { chip: { type: 'string', required: true }, owner: { model: 'owner' } }, primaryKey: 'chip' },
      owner: { attributes: { pets: { collection: 'pet', via: 'owner' } } },
    },
  }`,
}

test('keelson routes lists the routes without opening the database', async () => {
  const cwd = folder(twoModels)
  const { code, stdout } = await Command.run(['routes'], { cwd })
  assert.match(stdout, /\n {2}pet {3}:association is owner\n/)
  assert.match(stdout, /\n {4}GET {5}\/api\/pets +find\n/)
  assert.match(stdout, /\n {4}PATCH {3}\/api\/pets\/:chip +update\n/)
  assert.match(stdout, /\n {4}GET {5}\/api\/owners\/create +create · shortcut\n/)
  assert.match(stdout, /\n {2}service\n {4}POST {4}\/api\/batch +batch\n {4}POST {4}\/api\/live +live\n/)
  assert.equal(code, 0)
  assert.equal(existsSync(join(cwd, 'data')), false)
})

test('keelson routes --json --model prints the routes of one model, one object per line', async () => {
  const command = new Command(['routes', '--json', '--model', 'Owner'], { cwd: folder(twoModels) })
  assert.equal((await command.ended).code, 0)
  const find = { model: 'owner', method: 'GET', path: '/api/owners', operation: 'find', style: 'rest' }
  assert.deepEqual(command.events[0], find)
  assert.deepEqual(new Set(command.events.map(({ model }) => model)), new Set(['owner']))
})

test('a folder as --config is an error that says so', async () => {
  const { code, stderr } = await Command.run(['routes', '--config', '.'], { cwd: folder(petShop) })
  assert.match(stderr, /\. is a folder; --config names a file/)
  assert.equal(code, 78)
})

test('JSON as --config is an error that says what to write', async () => {
  const cwd = folder({ 'keelson.config.json': '{ "models": {} }' })
  const { code, stderr } = await Command.run(['routes', '--config', 'keelson.config.json'], { cwd })
  assert.match(stderr, /keelson\.config\.json is JSON, and a configuration is a module\n\n.+keelson\.config\.js/)
  assert.equal(code, 78)
})

test('keelson routes reports an unknown model as a wrong command line', async () => {
  const { code, stderr } = await Command.run(['routes', '--model', 'pte'], { cwd: folder(petShop) })
  assert.match(stderr, /Unknown model "pte"\n\n {2}Did you mean --model pet\?/)
  assert.equal(code, 2)
  const other = await Command.run(['routes', '--model', 'visit'], { cwd: folder(petShop) })
  assert.match(other.stderr, /Unknown model "visit"\n\n {2}Models: pet\n/)
})

test('keelson routes lists the actions of each model, and those of the service', async () => {
  const cwd = folder({
    'keelson.config.mjs': `import { action } from 'keelson'
    const run = () => 1
    export default {
      models: { pet: { attributes: {}, actions: { adopt: action({ on: 'record', run }), report: action({ on: 'model', method: 'GET', run }) } } },
      actions: { ping: action({ on: 'service', run }) },
    }`,
  })
  const { code, stdout } = await Command.run(['routes'], { cwd })
  assert.match(stdout, /\n {4}POST {4}\/pet\/:id\/adopt +adopt\n {4}GET {5}\/pet\/report +report\n/)
  assert.match(stdout, /\n {2}service\n {4}POST {4}\/ping +ping\n/)
  assert.equal(code, 0)
})

test('the summary at the start counts the routes that keelson routes lists, actions and those of the service included', async () => {
  const cwd = folder({
    'keelson.config.mjs': `const run = () => 1
    export default {
      prefix: '/api', shapes: '/shape',
      models: { pet: { attributes: {}, actions: { adopt: { on: 'record', run } } }, owner: { attributes: {} } },
      actions: { ping: { on: 'service', run } },
    }`,
  })
  const { stdout } = await Command.run(['routes'], { cwd })
  const [, count] = /(\d+) routes of 2 models/.exec(stdout) ?? []
  const start = new Command(['start', '--port', '0', '--database', 'sqlite::memory:'], { cwd })
  await start.until(/Press Ctrl\+C to stop/)
  start.kill('SIGTERM')
  await start.ended
  assert.match(start.stdout, new RegExp(`Models +2 · ${count} routes;`))
})

for (const [what, settings] of [
  ['undefined', 'database: process.env.NOT_SET'],
  ['empty', "database: ''"],
  ['undefined, with a broker', "database: process.env.NOT_SET, broker: 'nats://localhost:4222'"],
] as const) {
  const cwd = () =>
    folder({ 'keelson.config.mjs': `export default { ${settings}, models: { pet: { access: { read: true } } } }` })

  test(`routes and access rules are printed where the database is ${what}`, async () => {
    for (const [args, text] of [
      [['routes'], /GET +\/pet\/:id +findOne/],
      [['access', 'pet'], /read +allowed/],
    ] as const) {
      const { code, stdout, stderr } = await Command.run(args, { cwd: cwd() })
      assert.match(stdout, text)
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    }
  })

  test(`a record is not read where the database is ${what}`, async () => {
    const { code, stderr } = await Command.run(['access', 'pet', '--record', '1'], { cwd: cwd() })
    assert.match(stderr, /database is (undefined|an empty text)/)
    assert.equal(code, 78)
  })
}
