import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ask, Command, folder, post } from '../../../test/command.ts'

test('what keelson init writes can be served at once', async () => {
  const cwd = folder()
  const { code, stdout } = await Command.run(['init'], { cwd })
  assert.match(stdout, /\+ keelson\.config\.ts\n {2}\+ package\.json\n/)
  assert.match(stdout, /npx keelson dev/)
  assert.equal(code, 0)

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

test('keelson init overwrites nothing', async () => {
  const manifest = '{ "name": "mine" }'
  const cwd = folder({ 'package.json': manifest })
  assert.match((await Command.run(['init'], { cwd })).stdout, /\+ keelson\.config\.ts\n\n/)
  assert.equal(readFileSync(join(cwd, 'package.json'), 'utf8'), manifest)

  const before = readFileSync(join(cwd, 'keelson.config.ts'), 'utf8')
  const { code, stderr } = await Command.run(['init'], { cwd })
  assert.match(stderr, /keelson\.config\.ts is here already/)
  assert.equal(code, 1)
  assert.equal(readFileSync(join(cwd, 'keelson.config.ts'), 'utf8'), before)

  const { code: besideScript } = await Command.run(['init'], {
    cwd: folder({ 'keelson.config.mjs': 'export default {}' }),
  })
  assert.equal(besideScript, 1)
})
