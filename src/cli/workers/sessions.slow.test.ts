import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { io } from 'socket.io-client'
import { ask, Command, folder, petShop, post } from '../../../test/support/command.ts'
import { HttpConnection } from '../../../test/support/http-connection.ts'
import { RawPolling } from '../../../test/support/raw-polling.ts'
import { RawSocket } from '../../../test/support/raw-socket.ts'

const io2: typeof io = createRequire(import.meta.url)('socket.io-client-2')

async function start(): Promise<{ readonly command: Command; readonly url: string }> {
  const args = ['start', '--port', '0', '--workers', '3', '--json']
  const command = new Command(args, { cwd: folder(petShop) })
  await command.until(/"event":"ready"/)
  return { command, url: String(command.events[0]?.url) }
}

/** Fails when a stage takes far longer than any does: a client that waits would keep the run waiting. */
const stages =
  (state: () => string) =>
  async <T>(stage: string, reached: Promise<T>): Promise<T> => {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Error(`Stage '${stage}' was not reached: ${state()}`)), 30_000)
    return await Promise.race([reached, late]).finally(() => clearTimeout(timer))
  }

/** Every request has a connection of its own, so that it arrives at another worker than the one before. */
const headers = { connection: 'close' }

for (const version of [3, 4] as const) {
  test(`long polling of Engine.IO ${version}: each request may arrive at any worker`, async () => {
    const { command, url } = await start()
    const clients = await Promise.all([1, 2, 3, 4, 5].map(() => RawPolling.connect(url, { version, headers })))
    assert.equal(new Set(clients.map(({ sid }) => sid.split('.')[0])).size, 3)
    for (const client of clients) assert.equal((await client.ask('get', { url: '/pet' })).statusCode, 200)
    const polls = clients.map((client) => client.until((packet) => packet.startsWith('42')))
    await post(`${url}/pet`, { name: 'Réx 😀' })
    for (const poll of polls) assert.match(await poll, /^42\["pet",\{"verb":"created".*"Réx 😀"/)
    for (const client of clients) {
      const long = { url: '/pet', data: { name: 'x'.repeat(200_000) } }
      assert.equal((await client.ask('post', long)).statusCode, 201)
    }
    command.kill('SIGTERM')
    assert.deepEqual(await command.ended.then(({ code, stderr }) => ({ code, stderr })), { code: 0, stderr: '' })
  })
}

test('clients with their default options connect and are upgraded at the worker that has their session', async () => {
  const { command, url } = await start()
  const sockets = [io, io2, io, io2, io, io2].map((connect) => connect(url, { forceNew: true }))
  after(() => {
    for (const socket of sockets) socket.disconnect()
  })
  const stage = stages(() => sockets.map(({ connected, io }) => `${connected} ${io.engine?.transport.name}`).join(', '))
  for (const socket of sockets) {
    if (!socket.connected) await stage('connect', once(socket as never, 'connect'))
    const answered = new Promise<{ statusCode: number }>((resolve) => socket.emit('get', { url: '/pet' }, resolve))
    assert.equal((await stage('answer', answered)).statusCode, 200)
  }
  const events = sockets.map((socket) => once(socket as never, 'pet'))
  await post(`${url}/pet`, { name: 'Rex' })
  await stage('event', Promise.all(events))
  const upgraded = sockets.map(
    async ({ io: { engine } }) => engine.transport.name === 'websocket' || once(engine as never, 'upgrade'),
  )
  await stage('upgrade', Promise.all(upgraded))
  command.kill('SIGTERM')
  assert.equal((await command.ended).code, 0)
})

test('each request on a connection gets one response, whichever sessions they belong to', async () => {
  const { command, url } = await start()
  const polling = await Promise.all([1, 2, 3].map(() => RawPolling.connect(url, { headers })))
  const request = (line: string, body: string) =>
    `${line} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const packets = polling.map((client) =>
    request(`POST ${client.url.slice(url.length)}`, '42["get",{"url":"/pet"}]').replace(
      'application/json',
      'text/plain',
    ),
  )
  const create = request('POST /pet', '{"name":"Rex"}')
  const client = new HttpConnection(Number(new URL(url).port))
  client.socket.setMaxListeners(0)
  let sent = 0
  const answered = () => client.until(new RegExp(`(?:HTTP/1\\.1 [^]*){${sent}}`))
  for (const packet of [...packets, create, ...packets]) {
    for (const part of [packet.slice(0, 20), packet.slice(20, -3), packet.slice(-3)]) {
      client.write(part)
      await turn()
    }
    sent++
    await answered()
  }
  client.write([...packets, create, ...packets, create].join(''))
  sent += 8
  const statuses = Array.from((await answered()).matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => status)
  assert.deepEqual(statuses.slice(0, 7), ['200', '200', '200', '201', '200', '200', '200'])
  // One worker has all of those that were sent at once, and may have a session of them.
  for (const [index, status] of statuses.slice(7).entries())
    assert.match(status as string, index % 4 === 3 ? /201/ : /200|503/)
  assert.equal((await ask(`${url}/pet`)).length, 3)
  client.socket.destroy()
  command.kill('SIGTERM')
  assert.equal((await command.ended).code, 0)
})

test('a session of a worker that has ended, or of none, is not continued', async () => {
  const { command, url } = await start()
  const polling = await RawPolling.connect(url, { headers })
  const unknown = polling.url.replace(/sid=\d+/, 'sid=99')
  await assert.rejects(fetch(unknown, { headers }))
  const [worker] = polling.sid.split('.')
  const closed = polling.url.replace(polling.sid, `${worker}.x`)
  assert.equal((await fetch(closed, { headers })).status, 400)
  await assert.rejects(RawSocket.open(unknown.replace('polling', 'websocket')))
  assert.equal((await polling.ask('get', { url: '/pet' })).statusCode, 200)
  const long = `42["get",{"url":"/${'x'.repeat(2_000_000)}"}]`
  for (let tries = 0; tries < 3; tries++) {
    const response = await fetch(polling.url, { method: 'POST', body: long, headers }).catch(() => undefined)
    assert.ok(!response || response.status === 413 || response.status === 400)
  }
  command.kill('SIGTERM')
  assert.equal((await command.ended).code, 0)
})

test('a request that its client aborts on the way to another worker is no error', async () => {
  const { command, url } = await start()
  const polling = await RawPolling.connect(url, { headers })
  const { port, pathname, search } = new URL(polling.url)
  for (let tries = 0; tries < 3; tries++) {
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(`POST ${pathname}${search} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n42["get"`)
    await fetch(`${url}/pet`, { headers })
    socket.destroy()
  }
  assert.equal((await fetch(`${url}/pet`, { headers })).status, 200)
  command.kill('SIGTERM')
  assert.deepEqual(await command.ended.then(({ code, stderr }) => ({ code, stderr })), { code: 0, stderr: '' })
})

test('a connection on its way to a worker that stops is no error', async () => {
  // In one of three stops, one arrives at the worker when it has ended all others.
  for (let times = 0; times < 6; times++) {
    const { command, url } = await start()
    let isStopped = false
    const ask = async (client: number): Promise<void> => {
      for (let sid = client; !isStopped; sid++)
        await fetch(`${url}/socket.io/?EIO=4&transport=polling&sid=${1 + (sid % 3)}.x`, { headers })
          .then((response) => response.text())
          .catch(() => turn())
    }
    const asked = Promise.all(Array.from({ length: 32 }, (_, client) => ask(client)))
    await fetch(`${url}/pet`, { headers })
    await new Promise((resolve) => setTimeout(resolve, 300))
    command.kill('SIGTERM')
    const { code, stderr } = await command.ended
    isStopped = true
    await asked
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  }
})
