import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createService } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { unreliableNetwork } from '../support/unreliable-network.ts'

/*
 * The compiled `keelson/client` on each runtime: requests, a batch, errors, and a live query whose connection breaks while
 * something is written. Deno and Bun are run where they are installed.
 */

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const { NODE_OPTIONS, NODE_TEST_CONTEXT, ...env } = process.env
const models = {
  owner: { attributes: { name: { type: 'string', required: true }, pets: { collection: 'pet', via: 'owner' } } },
  pet: { attributes: { name: { type: 'string', required: true }, owner: { model: 'owner' } } },
} as const

const runtimes = [
  { name: 'node', command: process.execPath, args: [] },
  { name: 'deno', command: 'deno', args: ['run', '--no-prompt', '--allow-net=127.0.0.1'] },
  { name: 'bun', command: 'bun', args: ['run'] },
] as const

const missing = (command: string): Promise<string | false> =>
  run(command, ['--version'], { env }).then(
    () => false,
    () => `"${command}" is not installed`,
  )

describe('the compiled client', () => {
  /** A project in which the package is installed. */
  let project: string

  before(async () => {
    project = await mkdtemp(join(tmpdir(), 'keelson-runtimes-'))
    const installed = join(project, 'node_modules', 'keelson')
    await mkdir(installed, { recursive: true })
    await copyFile(join(root, 'package.json'), join(installed, 'package.json'))
    await run(process.execPath, ['build.js', join(installed, 'dist')], { cwd: root, env })
    await writeFile(
      join(project, 'package.json'),
      JSON.stringify({ type: 'module', dependencies: { keelson: '0.1.0' } }),
    )
    await copyFile(join(root, 'test/client/runtimes/program.js'), join(project, 'program.js'))
  })
  after(() => rm(project, { recursive: true, force: true }))

  for (const { name, command, args } of runtimes)
    test(`sends requests and resumes a live query on ${name}`, async (t) => {
      const reason = await missing(command)
      if (reason !== false) return t.skip(reason)
      await using service = await createService({ database: 'sqlite::memory:', models })
      await using network = await unreliableNetwork((await service.listen(0)).url)
      const { pet } = service.system.records
      const program = spawn(command, [...args, 'program.js', network.url.replace(/\/$/, '')], {
        cwd: project,
        env: { ...env, DENO_NO_UPDATE_CHECK: '1', DENO_DIR: join(project, 'deno') },
        stdio: ['ignore', 'pipe', 'inherit'],
        // Bun does not end when a promise is awaited that nothing resolves.
        timeout: 60_000,
      })
      using _ = { [Symbol.dispose]: () => void program.kill() }
      const exit = once(program, 'exit')
      const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]()
      const printed = async (step: string): Promise<JsonObject> => {
        const { value, done } = await lines.next()
        assert.ok(!done, `the program ended before "${step}"`)
        const line = JSON.parse(value)
        assert.equal(line.step, step)
        return line
      }

      assert.deepEqual((await printed('requests')).answers, {
        batch: ['Ann', 'Rex'],
        find: ['Rex of Ann'],
        all: ['Rex'],
        refused: 'E_INVALID_ATTRIBUTES name',
        aborted: 'AbortError',
      })
      assert.deepEqual((await printed('rows')).names, ['Rex'])
      await pet.create({ name: 'Ada' })
      assert.deepEqual((await printed('rows')).names, ['Ada', 'Rex'])

      await network.close()
      await printed('offline')
      await pet.create({ name: 'Max' })
      await pet.update(1, { name: 'Rexy' })
      await network.open()
      assert.deepEqual((await printed('rows')).names, ['Ada', 'Max', 'Rexy'])
      assert.equal((await printed('resumed')).isResumed, true, 'the request had the position of the rows')

      assert.deepEqual((await printed('optimistic')).names, ['Ada', 'Maxi', 'Rexy'])
      assert.deepEqual(await exit, [0, null])
      assert.equal((await pet.findOne(3))?.name, 'Maxi')
    })
})
