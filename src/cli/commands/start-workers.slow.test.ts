import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { ask, Command, folder, petShop, post } from '../../../test/support/command.ts'
import { StreamClient } from '../../../test/support/event-stream.ts'
import type { JsonObject } from '../../protocol/json.ts'

const start = (cwd: string, ...args: readonly string[]) =>
  new Command(['start', '--port', '0', '--workers', '2', '--json', ...args], { cwd })

const eventsNamed = (command: Command, name: string): readonly JsonObject[] =>
  command.events.filter(({ event }) => event === name)

/** Whether a process exists. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The process ids in the responses: new connections are distributed to the workers in turn. */
async function workersBehind(url: string): Promise<readonly number[]> {
  const pids = new Set<number>()
  for (let tries = 0; tries < 8; tries++) {
    const response = await fetch(`${url}/pid.json`, { headers: { connection: 'close' } })
    pids.add(Number(await response.text()))
  }
  return [...pids]
}

/** A request whose body ends when the test says so. */
async function beginRequest(port: number) {
  const socket = connect(port, '127.0.0.1')
  const headers = 'Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 14\r\nExpect: 100-continue'
  socket.write(`POST /pet HTTP/1.1\r\n${headers}\r\n\r\n`)
  await once(socket, 'data') // the worker has begun to read it
  return {
    async finish(): Promise<string> {
      socket.write('{"name":"Ann"}')
      const [answer] = await once(socket, 'data')
      return String(answer)
    },
  }
}

/** Each worker serves its process id as a public file. */
const withPid = {
  ...petShop,
  'keelson.config.ts': petShop['keelson.config.ts']
    .replace(
      "import { defineConfig } from 'keelson'",
      `import { mkdirSync, writeFileSync } from 'node:fs'\nimport { defineConfig } from 'keelson'\nmkdirSync('public-' + process.pid)\nwriteFileSync('public-' + process.pid + '/pid.json', String(process.pid))`,
    )
    .replace('models:', "public: 'public-' + process.pid, models:"),
}

describe('keelson start --workers', () => {
  test('several processes share one port and one file, and a change by one is received from the other', async () => {
    const command = start(folder(withPid))
    await command.until(/"event":"ready"/)
    const [ready] = command.events
    assert.equal(ready?.workers, 2)
    const { url, port } = ready as { url: string; port: number }
    assert.equal((await workersBehind(url)).length, 2)

    const streams = [await StreamClient.ready(port, '/pet'), await StreamClient.ready(port, '/pet')]
    const names = ['Ann', 'Bea', 'Cleo', 'Dot']
    for (const name of names) await post(`${url}/pet`, { name })
    for (const stream of streams) {
      const events = await stream.take(names.length)
      assert.deepEqual(
        events.map(({ data }) => (data as JsonObject).name),
        names,
      )
      await stream.close()
    }

    const workers = await workersBehind(url)
    command.kill('SIGTERM')
    assert.deepEqual(await command.ended.then(({ code, stderr }) => ({ code, stderr })), { code: 0, stderr: '' })
    assert.deepEqual(workers.filter(isRunning), [])
    assert.deepEqual(
      command.events.map(({ event }) => event),
      ['ready', 'stopping', 'stopped'],
    )
  })

  test('a stop signal to every process of the group is one graceful stop of each', async () => {
    const command = start(folder(withPid))
    await command.until(/"event":"ready"/)
    const { url, port } = command.events[0] as { url: string; port: number }
    const workers = await workersBehind(url)
    const streams = await Promise.all(Array.from({ length: 4 }, () => StreamClient.ready(port, '/pet')))
    const requests = await Promise.all(Array.from({ length: 4 }, () => beginRequest(port)))
    for (const pid of workers) process.kill(pid, 'SIGTERM')
    for (const stream of streams) assert.equal((await stream.rest()).at(-1)?.event, 'restart')
    // A service manager signals every process, and so does the parent of the workers.
    for (const pid of workers) process.kill(pid, 'SIGTERM')
    command.kill('SIGTERM')
    await command.until(/"event":"stopping"/)
    for (const request of requests) assert.match(await request.finish(), /^HTTP\/1\.1 201 /)
    assert.equal((await command.ended).code, 0)
  })

  test('a killed worker is replaced, and the other one keeps serving', async () => {
    const command = start(folder(withPid))
    const { url } = (await command.until(/"event":"ready"/).then(() => command.events[0])) as { url: string }
    const [victim, other] = (await workersBehind(url)) as [number, number]
    process.kill(victim, 'SIGKILL')
    await command.until(/"event":"worker-exited"/)
    assert.deepEqual(eventsNamed(command, 'worker-exited'), [
      { event: 'worker-exited', pid: victim, code: null, signal: 'SIGKILL', delayMs: 500 },
    ])
    assert.equal((await post(`${url}/pet`, { name: 'Rex' })).name, 'Rex')
    await command.until(/"event":"worker-ready"/)
    const [replacement] = eventsNamed(command, 'worker-ready')
    assert.deepEqual(new Set(await workersBehind(url)), new Set([other, replacement?.pid]))
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

  test('a second signal ends all workers immediately', async () => {
    const command = start(folder(petShop))
    await command.until(/"event":"ready"/)
    const [ready] = command.events
    const client = connect(Number(ready?.port), '127.0.0.1')
    client.on('error', () => {})
    client.write(
      'POST /pet HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
    )
    await ask(`${ready?.url}/pet`) // answered after the first request has arrived
    command.kill('SIGTERM')
    await command.until(/"event":"stopping"/)
    command.kill('SIGTERM')
    // `ended` resolves when the output is closed, and the workers hold it as well.
    assert.equal((await command.ended).signal, 'SIGTERM')
    client.destroy()
  })

  const alone = petShop['keelson.config.ts'].replace('models:', "writers: 'self', models:")
  const refused: readonly (readonly [what: string, args: readonly string[], code: number, expected: RegExp])[] = [
    ['a value that is no number', ['--workers', 'many'], 2, /--workers must be a number from 1 to 128, not "many"/],
    ['zero workers', ['--workers', '0'], 2, /from 1 to 128/],
    ['too many workers', ['--workers', '129'], 2, /from 1 to 128/],
    [
      'a database in memory',
      ['--workers', '2', '--database', 'sqlite::memory:'],
      2,
      /"sqlite::memory:" exists in one process only/,
    ],
    [
      'a model with one writer',
      ['--workers', '2', '--config', 'alone.config.ts', '--database', 'postgres://127.0.0.1:1/none'],
      2,
      /--workers 2 and `writers: 'self'` exclude each other/,
    ],
    ['an invalid port', ['--workers', '2', '--port', '99999'], 2, /--port must be a port number/],
    ['a database that cannot be opened', ['--workers', '2', '--database', 'sqlite:/dev/null/a.db'], 1, /✗/],
  ]
  for (const [what, args, code, expected] of refused) {
    test(`refuses ${what} with one message`, async () => {
      const ended = await Command.run(['start', ...args], { cwd: folder({ ...petShop, 'alone.config.ts': alone }) })
      assert.match(ended.stderr, expected)
      assert.equal(ended.stderr.split('✗').length, 2)
      assert.equal(ended.code, code)
    })
  }
})
