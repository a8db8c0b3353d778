import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Command, folder, petShop } from '../../../test/command.ts'

const twoModels = {
  'keelson.config.ts': `export default {
    prefix: '/api', pluralize: true,
    models: {
      pet: { attributes: { chip: { type: 'string', required: true }, owner: { model: 'owner' } }, primaryKey: 'chip' },
      owner: { attributes: { pets: { collection: 'pet', via: 'owner' } } },
    },
  }`,
}

test('keelson routes lists the addresses as they are served, and opens no database', async () => {
  const cwd = folder(twoModels)
  const { code, stdout } = await Command.run(['routes'], { cwd })
  assert.match(stdout, /\n {2}pet {3}:association is owner\n/)
  assert.match(stdout, /\n {4}GET {5}\/api\/pets +find\n/)
  assert.match(stdout, /\n {4}PATCH {3}\/api\/pets\/:chip +update\n/)
  assert.match(stdout, /\n {4}GET {5}\/api\/owners\/create +create · shortcut\n/)
  assert.equal(code, 0)
  assert.equal(existsSync(join(cwd, 'data')), false)
})

test('keelson routes --json prints one object a line, of one model when it is named', async () => {
  const command = new Command(['routes', '--json', '--model', 'Owner'], { cwd: folder(twoModels) })
  assert.equal((await command.ended).code, 0)
  const find = { model: 'owner', method: 'GET', path: '/api/owners', operation: 'find', style: 'rest' }
  assert.deepEqual(command.events[0], find)
  assert.deepEqual(new Set(command.events.map(({ model }) => model)), new Set(['owner']))
})

test('a model that is not there is a wrong command line', async () => {
  const { code, stderr } = await Command.run(['routes', '--model', 'pte'], { cwd: folder(petShop) })
  assert.match(stderr, /There is no model "pte"\n\n {2}Did you mean --model pet\?/)
  assert.equal(code, 2)
})
