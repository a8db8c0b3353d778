import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { until } from '../../../test/support/socket-server.ts'
import { Worker } from './worker.ts'

const program = 'process.on("message", () => {}); process.send("ready")'

/** Connections of clients, as a server accepts them. */
async function connections(count: number) {
  const accepted: Socket[] = []
  const server = createServer((socket) => accepted.push(socket.on('error', () => {})))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as { readonly port: number }
  const clients = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}))
  await Promise.all(clients.map((client) => once(client, 'connect')))
  await until(() => accepted.length === count)
  server.close()
  const closed = () => clients.filter((client) => client.closed).length
  for (const client of clients) client.resume()
  return { accepted, clients, closed }
}

for (const { name, count, received, pending } of [
  { name: 'at most 500 connections', count: 520, received: '', pending: 500 },
  {
    name: 'at most 64 MB of what was read from them',
    count: 70,
    received: Buffer.alloc(1_000_000).toString('base64'),
    pending: 67,
  },
])
  test(`${name} wait for a worker that does not run, until it has ended`, async () => {
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    await once(child, 'message')
    const worker = new Worker(child)
    child.kill('SIGSTOP')
    const { accepted, clients, closed } = await connections(count)
    for (const connection of accepted) worker.sendConnection({ kind: 'connection', to: '1', received }, connection)
    // One may have been sent before the worker stopped.
    await until(() => closed() >= count - pending - 1)
    assert.ok([count - pending, count - pending - 1].includes(closed()), String(closed()))
    child.kill('SIGKILL')
    await worker.exited
    await until(() => closed() === count)
    for (const client of clients) client.destroy()
  })

test('what a client sends meanwhile is read by the process that receives its connection', async () => {
  const echo = 'process.on("message", (_, connection) => connection.pipe(connection)); process.send("ready")'
  const child = spawn(process.execPath, ['-e', echo], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  await once(child, 'message')
  const worker = new Worker(child)
  child.kill('SIGSTOP')
  const { accepted, clients } = await connections(3)
  for (const connection of accepted) worker.sendConnection({ kind: 'connection', to: '1', received: '' }, connection)
  const answers = clients.map((client) => once(client.setEncoding('utf8'), 'data'))
  for (const client of clients) client.write('1')
  // Enough for this process to read it.
  for (let turns = 0; turns < 10; turns++) await turn()
  child.kill('SIGCONT')
  for (const client of clients) client.write('2')
  for (const answer of await Promise.all(answers)) assert.match(answer[0], /^1/)
  for (const client of clients) client.destroy()
  child.kill('SIGKILL')
  await worker.exited
})
