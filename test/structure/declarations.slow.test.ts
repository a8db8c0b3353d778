import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const compiler = join(root, 'node_modules/typescript/bin/tsc')
const tsc = (...args: string[]) => spawnSync(process.execPath, [compiler, ...args], { encoding: 'utf8' })

const application = `import { createService, type RecordOf } from './dist/index.js'

const models = {
  owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: { attributes: { name: { type: 'string', required: true }, owner: { model: 'owner', required: true } } },
} as const
const service = await createService({ models })
const { data } = await service.system.records.pet.find({ populate: ['owner'] })
export const name: string | null | undefined = data[0]?.owner.name
export const pet: RecordOf<typeof models, 'pet'> | undefined = await service.system.records.pet.findOne(1)
`

test('the declarations of the package compile with exactOptionalPropertyTypes and without skipLibCheck', (t) => {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'keelson-declarations-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const built = tsc('--project', join(root, 'tsconfig.build.json'), '--outDir', join(folder, 'dist'))
  assert.equal(built.stdout, '')
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'application.ts'), application)
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false']
  const target = ['--target', 'es2024', '--lib', 'es2024,esnext.disposable,esnext.iterator', '--module', 'nodenext']
  const { stdout, status } = tsc(...options, ...target, '--types', 'node', join(folder, 'application.ts'))
  assert.equal(stdout, '')
  assert.equal(status, 0)
})
