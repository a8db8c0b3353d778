import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Command, folder, root } from '../../test/command.ts'
import { commands } from './commands.ts'

describe('what is said wrongly is told, with what may have been meant, and ends with 2', () => {
  const cases: readonly (readonly [args: readonly string[], says: RegExp])[] = [
    [['strat'], /There is no command "strat"\n\n {2}Did you mean keelson start\?/],
    [['route'], /Did you mean keelson routes\?/],
    [['xyz'], /There is no command "xyz"\n\n {2}keelson --help shows what there is/],
    [['--port', '1'], /A command must come before --port/],
    [['start', '--prot', '1'], /"start" has no option --prot\n\n {2}Did you mean --port\?/],
    [['start', '--once'], /"start" has no option --once/],
    [['start', '-x'], /"start" has no option -x/],
    [['start', 'here'], /"here" is not expected behind "start"/],
    [['start', '--port'], /--port needs a value: --port NUMBER/],
    [['start', '--port='], /--port needs a value/],
    [['start', '--port', '--json'], /"message":"--port needs a value/],
    [['start', '--verbose=no'], /--verbose is a switch and takes no value/],
  ]
  for (const [args, says] of cases) {
    test(`keelson ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await Command.run(args, { cwd: folder() })
      assert.match(stdout + stderr, says)
      assert.equal(code, 2)
    })
  }
})

describe('help', () => {
  test('names every command that is not for our own use', async () => {
    for (const args of [[], ['--help'], ['-h'], ['help']]) {
      const { code, stdout } = await Command.run(args)
      for (const { name, isInternal } of commands) assert.equal(stdout.includes(`\n    ${name} `), !isInternal, name)
      assert.equal(code, 0)
    }
  })

  for (const { name, options, examples, isInternal } of commands) {
    if (isInternal) continue
    test(`keelson ${name} --help shows its options and two examples`, async () => {
      const { code, stdout } = await Command.run([name, '--help'])
      for (const option of options) assert.match(stdout, new RegExp(`--${option}\\b`))
      for (const [line] of examples) assert.ok(stdout.includes(line))
      assert.equal(examples.length, 2)
      assert.equal(code, 0)
    })
  }
})

test('the version is that of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  for (const flag of ['--version', '-v']) assert.equal((await Command.run([flag])).stdout, `${version}\n`)
})

test('colours are for those who look, unless they do not want any', async () => {
  const colour = '\x1b['
  assert.ok(!(await Command.run(['--help'])).stdout.includes(colour))
  assert.ok((await Command.run(['--help'], { env: { FORCE_COLOR: '1' } })).stdout.includes(colour))
})
