import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { folder } from '../../../test/support/command.ts'
import { ConfigError } from '../../model/config-error.ts'
import { loadModels } from './load-models.ts'

test('models are CommonJS and ES modules, also in subfolders; other files are ignored', async () => {
  const path = folder({
    'Room.cjs': "module.exports = { attributes: { name: 'string' } }",
    'admin/AuditLog.mjs': 'export default { attributes: {} }',
    'Typed.ts': "const type: string = 'string'\nexport default { attributes: { name: { type } } }",
    'README.md': '# Models',
    '.gitkeep': '',
    '.git/Hidden.cjs': 'throw new Error()',
    'types.d.ts': 'export {}',
  })
  const models = await loadModels(path)
  assert.deepEqual(Object.keys(models).sort(), ['auditlog', 'room', 'typed'])
  assert.deepEqual(models.room, { attributes: { name: 'string' } })
  assert.deepEqual(await loadModels(pathToFileURL(path)), models)
})

test('all files that cannot be loaded are reported', async () => {
  const path = folder({
    'A.cjs': 'module.exports = sails.config.models.base',
    'B.cjs': 'module.exports = 5',
    'C.cjs': "require('not-installed')",
    'D.coffee': 'module.exports = {}',
    'E.cjs': 'module.exports = {}',
    'F.cjs': 'module.exports = {\n\n  attributes: }',
    'sub/e.cjs': 'module.exports = {}',
  })
  await assert.rejects(loadModels(path), (error) => {
    assert.ok(error instanceof ConfigError)
    const [a, b, c, d, f, e, ...others] = error.problems
    assert.match(
      a as string,
      /A\.cjs: sails is not defined; the globals of Sails do not exist while models are loaded$/,
    )
    assert.match(b as string, /B\.cjs: it exports no model: expected `module\.exports = /)
    assert.match(c as string, /C\.cjs: Cannot find module 'not-installed'$/)
    assert.match(d as string, /D\.coffee: compile it to JavaScript$/)
    assert.match(f as string, /F\.cjs:3: Unexpected token '\}'$/)
    assert.match(e as string, /e\.cjs: another file has the model "e"$/)
    assert.deepEqual(others, [])
    return true
  })
})

for (const [title, path, problem] of [
  ['a folder that does not exist', join(tmpdir(), 'keelson-no-such-folder'), /the folder cannot be read: ENOENT/],
  ['a folder without models', folder({ 'README.md': '' }), /the folder has no models$/],
] as const) {
  test(`${title} is reported`, () =>
    assert.rejects(loadModels(path), (error) => error instanceof ConfigError && problem.test(error.problems[0] ?? '')))
}
