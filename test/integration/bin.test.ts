import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { Command, folder, petShop, root } from '../support/command.ts'
import { oldNode, withOldNode } from '../support/old-node.ts'

const installedNode = join(root, 'node_modules/node/bin/node')

/** The command in a folder without anything else. */
function bareCopy(): string {
  const path = folder({ 'package.json': '{ "type": "module" }' })
  cpSync(join(root, 'bin'), join(path, 'bin'), { recursive: true })
  return path
}

const run = (path: string, args: readonly string[] = ['--version']) =>
  Command.run(args, { ...(oldNode && { node: oldNode }), file: join(path, 'bin/keelson.js') })

describe('the command on a Node that is too old', withOldNode, () => {
  const needs = /^Keelson needs Node 24 or newer; this is Node \d+\.\d+\.\d+\.\n/

  test('prints the minimum version in two lines', async () => {
    const { code, stdout, stderr } = await run(bareCopy())
    assert.match(stderr, needs)
    assert.match(stderr, /\n.*https:\/\/nodejs\.org.*\n$/)
    assert.equal(stderr.split('\n').length, 3)
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
  })

  test('in a repository without dependencies suggests npm ci', async () => {
    const path = bareCopy()
    cpSync(join(root, 'package-lock.json'), join(path, 'package-lock.json'))
    assert.match((await run(path)).stderr, /\nRun "npm ci" here/)
  })

  test('in a repository whose node package has no binary prints the reason', async () => {
    const path = bareCopy()
    mkdirSync(join(path, 'node_modules/node'), { recursive: true })
    const { code, stderr } = await run(path)
    assert.match(stderr, needs)
    assert.match(
      stderr,
      /because npm is configured to ignore install scripts: run "npm rebuild node --ignore-scripts=false"/,
    )
    assert.equal(code, 1)
  })

  const notInstalled = !existsSync(installedNode) && 'the node package of the repository is not installed'

  test('runs the installed node package with the same arguments', {
    skip: notInstalled,
  }, async () => {
    const { code, stdout } = await run(root)
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
    assert.equal(code, 0)
    assert.equal((await run(root, ['start', '--nothing'])).code, 2)
  })

  test('stops the child process after SIGTERM and SIGKILL', { skip: notInstalled }, async () => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const command = new Command(['start', '--port', '0'], { cwd: folder(petShop), node: oldNode as string })
      const url = await command.url()
      command.kill(signal)
      // The output is closed when the last process that holds it has ended.
      await command.ended
      await assert.rejects(fetch(url))
    }
  })
})

test('the command can be run through a symbolic link, as npm creates it', async () => {
  const link = join(folder(), 'keelson')
  symlinkSync(join(root, 'bin/keelson.js'), link)
  assert.match((await Command.run(['--version'], { file: link, cwd: dirname(link) })).stdout, /^\d+\.\d+\.\d+\n$/)
})
