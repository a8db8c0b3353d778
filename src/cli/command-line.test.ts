import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { describe, test } from 'node:test'
import { Command, root } from '../../test/support/command.ts'
import { runCommandLine } from './command-line.ts'
import { commands } from './commands.ts'

const notLoaded = () => assert.fail('the service is not needed')

/** Runs a command line in this process and collects its output. */
async function run(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const text = { stdout: '', stderr: '' }
  const collect = (name: keyof typeof text) =>
    new Writable({
      write(chunk, _encoding, done) {
        text[name] += chunk
        done()
      },
    })
  const code = await runCommandLine(args, notLoaded, { stdout: collect('stdout'), stderr: collect('stderr') })
  return { code, ...text }
}

describe('a wrong command line is reported with a suggestion and exit code 2', () => {
  const cases: readonly (readonly [args: readonly string[], expected: RegExp])[] = [
    [['strat'], /Unknown command "strat"\n\n {2}Did you mean keelson start\?/],
    [['route'], /Did you mean keelson routes\?/],
    [['xyz'], /Unknown command "xyz"\n\n {2}keelson --help lists the commands/],
    [
      ['migrate'],
      /Unknown command "migrate"\n\n {2}There is no such step: keelson start and keelson dev create the tables/,
    ],
    [['serve'], /Unknown command "serve"\n\n {2}keelson start serves the models/],
    [['help', 'strat'], /Unknown command "strat"\n\n {2}Did you mean keelson start\?/],
    [['--port', '1'], /Missing command before --port/],
    [['start', '--prot', '1'], /"start" has no option --prot\n\n {2}Did you mean --port\?/],
    [['start', '--once'], /"start" has no option --once/],
    [['start', '-x'], /"start" has no option -x/],
    [['start', 'here'], /Unexpected argument "here" after "start"\n\n$/],
    [['start', 'shop.config.ts'], /Unexpected argument.*\n\n {2}Did you mean --config shop\.config\.ts\?/],
    [['dev', '8080'], /Did you mean --port 8080\?/],
    [['init', 'sqlite:shop.db'], /Did you mean --database sqlite:shop\.db\?/],
    [['start', '--port'], /--port needs a value: --port NUMBER/],
    [['start', '--port='], /--port needs a value/],
    [['start', '--port', '--json'], /"message":"--port needs a value/],
    [['start', '--verbose=no'], /--verbose is a switch and takes no value/],
  ]
  for (const [args, expected] of cases) {
    test(`keelson ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await run(...args)
      assert.match(stdout + stderr, expected)
      assert.equal(code, 2)
    })
  }
})

describe('help', () => {
  test('lists every command that is not internal', async () => {
    for (const args of [[], ['--help'], ['-h'], ['help']]) {
      const { code, stdout } = await run(...args)
      for (const { name, isInternal } of commands) assert.equal(stdout.includes(`\n    ${name} `), !isInternal, name)
      assert.equal(code, 0)
    }
  })

  for (const { name, options, examples, isInternal } of commands) {
    if (isInternal) continue
    test(`keelson ${name} --help shows its options and examples`, async () => {
      const { code, stdout } = await run(name, '--help')
      assert.equal((await run('help', name)).stdout, stdout)
      for (const option of options) assert.match(stdout, new RegExp(`--${option}\\b`))
      for (const [line] of examples) assert.ok(stdout.includes(line))
      assert.ok(examples.length >= 2)
      assert.equal(code, 0)
    })
  }
})

test('the program prints the version of the package and exits with the code of the command line', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  for (const flag of ['--version', '-v']) assert.equal((await Command.run([flag])).stdout, `${version}\n`)
  assert.equal((await Command.run(['xyz'])).code, 2)
})

test('colours are used on a terminal only, unless FORCE_COLOR is set', async () => {
  const colour = '\x1b['
  assert.ok(!(await Command.run(['--help'])).stdout.includes(colour))
  assert.ok((await Command.run(['--help'], { env: { FORCE_COLOR: '1' } })).stdout.includes(colour))
})
