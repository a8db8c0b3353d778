import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Command, folder, petShop, post } from '../../../test/support/command.ts'
import { createService, schedule } from '../../index.ts'

/** Starts a service with two models. */
async function startShop(): Promise<{ readonly cwd: string; readonly url: string }> {
  const config = petShop['keelson.config.ts'].replace('models: { pet }', 'models: { pet, toy: { attributes: {} } }')
  const cwd = folder({ ...petShop, 'keelson.config.ts': config })
  return { cwd, url: await new Command(['start', '--port', '0'], { cwd }).url() }
}

describe('keelson log', () => {
  test('--once prints the current content and the position to continue from', async () => {
    const { cwd, url } = await startShop()
    await post(`${url}/pet`, { name: 'Rex' })
    await post(`${url}/toy`, {})
    const headers = { 'Content-Type': 'application/json' }
    await fetch(`${url}/pet/1`, { method: 'PATCH', headers, body: '{"name":"Max"}' })
    await fetch(`${url}/pet/1`, { method: 'DELETE' })

    const { code, stdout } = await Command.run(['log', '--once'], { cwd })
    assert.match(
      stdout,
      /created {4}pet 1 {2}name "Rex"\n.*created {4}toy 1\n.*updated {4}pet 1 {2}name "Rex" → "Max"\n.*destroyed {2}pet 1\n/,
    )
    assert.equal(code, 0)

    const [, position] = /--since (\S+)/.exec(stdout) as unknown as [string, string]
    await post(`${url}/pet`, { name: 'Kim' })
    const later = new Command(['log', '--once', '--json', '--since', position], { cwd })
    await later.ended
    const [change, end, ...others] = later.events
    assert.deepEqual([change?.verb, change?.model, change?.id], ['created', 'pet', 2])
    assert.deepEqual(end, { event: 'end', position: change?.position })
    assert.deepEqual(others, [])

    const toys = new Command(['log', '--once', '--json', '--model', 'toy'], { cwd })
    await toys.ended
    assert.deepEqual(
      toys.events.slice(0, -1).map(({ model }) => model),
      ['toy'],
    )
  })

  test('prints changes of another process until it is stopped', async () => {
    const { cwd, url } = await startShop()
    await post(`${url}/pet`, { name: 'before' })
    const log = new Command(['log'], { cwd })
    await log.until(/Waiting for changes/)
    await post(`${url}/pet`, { name: 'Rex' })
    await log.until(/created {4}pet 2 {2}name "Rex"/)
    await post(`${url}/pet`, { name: 'Kim' })
    await log.until(/created {4}pet 3 {2}name "Kim"/)
    assert.doesNotMatch(log.stdout, /before/)
    log.kill('SIGINT')
    const { code, stderr } = await log.ended
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  })

  test('reports a position that the log does not contain', async () => {
    const { cwd, url } = await startShop()
    await post(`${url}/pet`, { name: 'Rex' })
    const once = await Command.run(['log', '--once', '--since', 'elsewhere'], { cwd })
    assert.match(once.stdout, /reset {2}The log does not contain the position elsewhere: changes may be missing/)
    assert.equal(once.code, 1)

    const following = new Command(['log', '--json', '--since', 'elsewhere'], { cwd })
    await following.until(/"event":"reset"/)
    await post(`${url}/pet`, { name: 'Kim' })
    await following.until(/"name":"Kim"/)
    assert.doesNotMatch(following.stdout, /Rex/)
  })

  test('exits without an error when its output is closed', async () => {
    const { cwd, url } = await startShop()
    const log = new Command(['log'], { cwd })
    await log.until(/Waiting/)
    log.closeOutput()
    await post(`${url}/pet`, { name: 'Rex' })
    const { code, stderr } = await log.ended
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  })

  test('does not create a database', async () => {
    const cwd = folder(petShop)
    for (const [options, path] of [
      [[], 'data/app.db'],
      [['--database', 'sqlite:none.db'], 'none.db'],
      [['--database', 'file:none.db'], 'none.db'],
    ] as const) {
      const { code, stderr } = await Command.run(['log', '--once', ...options], { cwd })
      assert.match(stderr, new RegExp(`Database not found: ${path}. keelson start creates it`))
      assert.equal(code, 1)
      assert.equal(existsSync(join(cwd, path)), false)
    }
  })

  test('runs no jobs, whatever the configuration says', async () => {
    const cwd = folder({
      'keelson.config.ts': `import { defineConfig, job } from 'keelson'
const mail = job('mail', () => {}, { from: 'beginning' })
export default defineConfig({ database: 'sqlite:pets.db', runJobs: true, models: { pet: { attributes: {}, on: { created: mail } } } })
`,
    })
    const database = `sqlite:${join(cwd, 'pets.db')}`
    // Another job has run, so that the tables of jobs exist.
    const other = { every: schedule({ every: '1h' }, () => {}) }
    const service = await createService({ database, runJobs: true, models: { pet: { attributes: {} } }, jobs: other })
    await service.system.records.pet.create({})
    await service.close()
    assert.match((await Command.run(['log', '--once'], { cwd })).stdout, /created {4}pet 1/)
    const { stdout } = await Command.run(['jobs'], { cwd })
    assert.match(stdout, /every/)
    assert.doesNotMatch(stdout, /mail/)
  })
})
