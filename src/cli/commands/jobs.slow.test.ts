import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Command, folder, post } from '../../../test/support/command.ts'
import { eventually } from '../../../test/support/eventually.ts'
import type { JsonObject } from '../../protocol/json.ts'

/** Each run of the job is a line of a file. A file that a test writes makes it fail. */
const shop = {
  'keelson.config.ts': `import { appendFileSync, existsSync } from 'node:fs'
import { defineConfig, job } from 'keelson'

const welcome = job('welcome', (pet) => {
  appendFileSync('runs.txt', process.pid + ' ' + pet.name + '\\n')
  if (existsSync('failing')) throw new Error('no mail today')
}, { retry: 0 })

export default defineConfig({
  database: 'sqlite:pets.db',
  limits: { jobLeaseMs: 600 },
  models: { pet: { attributes: { name: { type: 'string', required: true } }, on: { created: welcome } } },
})
`,
}

const runsIn = (cwd: string): readonly (readonly [pid: number, name: string])[] => {
  const file = join(cwd, 'runs.txt')
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
  return lines.map((line) => [Number(line.split(' ')[0]), line.split(' ')[1] as string])
}

const jobs = (cwd: string, ...args: readonly string[]) => Command.run(['jobs', ...args], { cwd })

describe('keelson jobs', () => {
  test('lists, retries and drops dead letters, also while the service runs', async () => {
    const cwd = folder({ ...shop, failing: '' })
    assert.match((await jobs(cwd)).stderr, /pets\.db/)
    const service = new Command(['start', '--port', '0'], { cwd })
    const url = await service.url()
    for (const name of ['Rex', 'Tom', 'Eva']) await post(`${url}/pet`, { name })
    const listed = await eventually(async () => {
      const { stdout } = await jobs(cwd, '--json')
      const lines = stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as JsonObject)
      return lines.length === 4 && lines
    })
    const [state, ...letters] = listed
    assert.deepEqual(state, { event: 'job', name: 'welcome', isDeclared: true, waiting: 0, deadLetters: 3 })
    assert.deepEqual(
      letters.map(({ event, job, attempts, error, of }) => ({
        event,
        job,
        attempts,
        error,
        id: (of as JsonObject).id,
      })),
      [1, 2, 3].map((id) => ({ event: 'dead-letter', job: 'welcome', attempts: 1, error: 'no mail today', id })),
    )
    assert.match((await jobs(cwd)).stdout, /welcome {3}0 waiting for a retry, 3 dead\n.*created pet 2 .*no mail today/s)

    rmSync(join(cwd, 'failing'))
    const retried = await jobs(cwd, 'retry', String(letters[1]?.id))
    assert.deepEqual([retried.code, retried.stdout.trim()], [0, '1 dead letter will be run again.'])
    await eventually(() => runsIn(cwd).length === 4)
    assert.equal(runsIn(cwd)[3]?.[1], 'Tom')
    const wrong: readonly (readonly [args: readonly string[], message: RegExp])[] = [
      [['retry', '999'], /There is no dead letter 999/],
      [['retry'], /needs the id of a dead letter, or --all/],
      [['forget', '1'], /"forget" is not an action/],
      [['drop', 'x'], /is a number, not "x"/],
      [
        ['retry', '--all', '--job', 'welcme'],
        /No job "welcme" has run on this database\n\n {2}Did you mean --job welcome\?/,
      ],
      [['drop', '--all', '--job', 'another'], /No job "another" has run on this database/],
      [['--job', 'welcme'], /Did you mean --job welcome\?/],
    ]
    for (const [args, message] of wrong) {
      const { code, stderr } = await jobs(cwd, ...args)
      assert.notEqual(code, 0)
      assert.match(stderr, message)
    }
    assert.match((await jobs(cwd, 'drop', '--all')).stdout, /2 dead letters deleted/)
    assert.match((await jobs(cwd)).stdout, /0 waiting for a retry, 0 dead/)
    service.kill('SIGTERM')
    assert.equal((await service.ended).code, 0)
    assert.equal(runsIn(cwd).length, 4)
  })
})

describe('keelson start --workers with jobs', () => {
  test('one worker runs them; when it is killed, another takes over', async () => {
    const cwd = folder(shop)
    const service = new Command(['start', '--port', '0', '--workers', '2', '--json'], { cwd })
    await service.until(/"event":"ready"/)
    const { url } = service.events[0] as { url: string }
    const create = async (prefix: string) => {
      for (let index = 0; index < 10; index++) await post(`${url}/pet`, { name: `${prefix}${index}` })
      const names = Array.from({ length: 10 }, (_, index) => `${prefix}${index}`)
      await eventually(() => names.every((name) => runsIn(cwd).some(([, ran]) => ran === name)))
      return runsIn(cwd).filter(([, ran]) => ran.startsWith(prefix))
    }
    const first = await create('a')
    const runner = first[0]?.[0] as number
    assert.deepEqual(
      first,
      Array.from({ length: 10 }, (_, index) => [runner, `a${index}`]),
    )
    process.kill(runner, 'SIGKILL')
    await service.until(/"event":"worker-exited"/)
    const second = await create('b')
    const pids = new Set(second.map(([pid]) => pid))
    assert.equal(pids.size, 1)
    assert.ok(!pids.has(runner))
    assert.deepEqual(
      second.map(([, name]) => name),
      Array.from({ length: 10 }, (_, index) => `b${index}`),
    )
    service.kill('SIGTERM')
    assert.equal((await service.ended).code, 0)
  })
})
