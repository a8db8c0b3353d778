import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { constants } from 'node:os'
import { describe, test } from 'node:test'
import { ask, Command, folder, petShop, post } from '../../../test/command.ts'
import { StreamClient } from '../../../test/event-stream.ts'
import type { JsonObject } from '../../protocol/json.ts'

const start = (cwd: string, ...args: readonly string[]) =>
  new Command(['start', '--port', '0', '--workers', '2', '--json', ...args], { cwd })

const heard = (command: Command, name: string): readonly JsonObject[] =>
  command.events.filter(({ event }) => event === name)

/** Whether a process is there. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** By its own answers: connections are dealt to the workers in turn. */
async function workersBehind(url: string): Promise<readonly number[]> {
  const pids = new Set<number>()
  for (let tries = 0; tries < 8; tries++) {
    const response = await fetch(`${url}/pid.json`, { headers: { connection: 'close' } })
    pids.add(Number(await response.text()))
  }
  return [...pids]
}

/** Each worker says which it is. */
const telling = {
  ...petShop,
  'keelson.config.ts': petShop['keelson.config.ts']
    .replace(
      "import { defineConfig } from 'keelson'",
      `import { mkdirSync, writeFileSync } from 'node:fs'\nimport { defineConfig } from 'keelson'\nmkdirSync('public-' + process.pid)\nwriteFileSync('public-' + process.pid + '/pid.json', String(process.pid))`,
    )
    .replace('models:', "public: 'public-' + process.pid, models:"),
}

describe('keelson start --workers', () => {
  test('several processes serve one port and one file, and what one writes is heard at the other', async () => {
    const command = start(folder(telling))
    await command.until(/"event":"ready"/)
    const [ready] = command.events
    assert.equal(ready?.workers, 2)
    const { url, port } = ready as { url: string; port: number }
    assert.equal((await workersBehind(url)).length, 2)

    const streams = [await StreamClient.ready(port, '/pet'), await StreamClient.ready(port, '/pet')]
    const names = ['Ann', 'Bea', 'Cleo', 'Dot']
    for (const name of names) await post(`${url}/pet`, { name })
    for (const stream of streams) {
      const told = await stream.take(names.length)
      assert.deepEqual(
        told.map(({ data }) => (data as JsonObject).name),
        names,
      )
      await stream.close()
    }

    const workers = await workersBehind(url)
    command.kill('SIGTERM')
    assert.deepEqual(await command.ended.then(({ code, stderr }) => ({ code, stderr })), { code: 0, stderr: '' })
    assert.deepEqual(workers.filter(lives), [])
    assert.deepEqual(
      command.events.map(({ event }) => event),
      ['ready', 'stopping', 'stopped'],
    )
  })

  test('one that is killed is replaced, and the other goes on meanwhile', async () => {
    const command = start(folder(telling))
    const { url } = (await command.until(/"event":"ready"/).then(() => command.events[0])) as { url: string }
    const [victim, other] = (await workersBehind(url)) as [number, number]
    process.kill(victim, 'SIGKILL')
    await command.until(/"event":"worker-ended"/)
    assert.deepEqual(heard(command, 'worker-ended'), [
      { event: 'worker-ended', pid: victim, code: null, signal: 'SIGKILL', pauseMs: 500 },
    ])
    assert.equal((await post(`${url}/pet`, { name: 'Rex' })).name, 'Rex')
    await command.until(/"event":"worker-ready"/)
    const [replacing] = heard(command, 'worker-ready')
    assert.deepEqual(new Set(await workersBehind(url)), new Set([other, replacing?.pid]))
  })

  test('a seed runs once', async () => {
    const cwd = folder({
      ...petShop,
      'keelson.config.ts': petShop['keelson.config.ts'].replace(
        'models:',
        `async seed({ system }) {
          await new Promise((resolve) => setTimeout(resolve, 300))
          await system.records.pet.create({ name: 'Rex' })
        },
        models:`,
      ),
    })
    const command = start(cwd)
    await command.until(/"event":"ready"/)
    const [ready] = command.events
    assert.equal(ready?.seeded, true)
    assert.equal((await ask(`${ready?.url}/pet`)).length, 1)
  })

  test('a second signal ends them all at once', async () => {
    const command = start(folder(petShop))
    await command.until(/"event":"ready"/)
    const [ready] = command.events
    const client = connect(Number(ready?.port), '127.0.0.1')
    client.on('error', () => {})
    client.write(
      'POST /pet HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
    )
    await ask(`${ready?.url}/pet`) // answered behind it, so the first has arrived
    command.kill('SIGTERM')
    await command.until(/"event":"stopping"/)
    command.kill('SIGTERM')
    // It counts as ended when nobody holds its output any more, and the workers hold it as well.
    assert.equal((await command.ended).code, 128 + constants.signals.SIGTERM)
    client.destroy()
  })

  const refused: readonly (readonly [what: string, args: readonly string[], code: number, says: RegExp])[] = [
    ['no number', ['--workers', 'many'], 2, /--workers must be a number from 1 to 128, and is "many"/],
    ['none', ['--workers', '0'], 2, /from 1 to 128/],
    ['more than any machine has', ['--workers', '129'], 2, /from 1 to 128/],
    [
      'a database in memory',
      ['--workers', '2', '--database', 'sqlite::memory:'],
      2,
      /"sqlite::memory:" lives in one of them/,
    ],
    ['a port that is none', ['--workers', '2', '--port', '99999'], 2, /--port must be a port number/],
    ['a database that cannot be opened', ['--workers', '2', '--database', 'sqlite:/dev/null/a.db'], 1, /✗/],
  ]
  for (const [what, args, code, says] of refused) {
    test(`refuses ${what}, once`, async () => {
      const ended = await Command.run(['start', ...args], { cwd: folder(petShop) })
      assert.match(ended.stderr, says)
      assert.equal(ended.stderr.split('✗').length, 2)
      assert.equal(ended.code, code)
    })
  }
})
