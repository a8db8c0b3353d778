import assert from 'node:assert/strict'
import cluster from 'node:cluster'
import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { connectionMessage, startMessage } from './messages.ts'
import { WorkerPool } from './worker-pool.ts'

test('errors of a worker that has just ended do not end its parent', async (t) => {
  const child = Object.assign(new EventEmitter(), { pid: 1, connected: true, send() {}, kill: () => {} })
  // A worker of node:cluster repeats the errors of its process.
  const forked = Object.assign(new EventEmitter(), { id: 1, process: child })
  child.on('error', (error) => forked.emit('error', error))
  t.mock.method(cluster, 'setupPrimary', () => {})
  t.mock.method(cluster, 'fork', () => forked)
  const exited = Promise.withResolvers<number | undefined>()
  const pool = new WorkerPool(1, {}, { progress() {}, exited: exited.resolve, replaced() {}, failed: assert.ifError })
  const started = pool.start()
  child.emit('message', { kind: 'loaded', inMemoryDatabase: null, isSoleWriter: false })
  child.emit('message', { kind: 'ready', ready: {} })
  await started
  for (let count = 0; count < 3; count++) child.emit('error', new Error('write EPIPE'))
  assert.equal(await exited.promise, 1)
  await pool.stop()
})

test('a connection for a worker that starts is closed, and one that listens receives it', async (t) => {
  const children = [1, 2].map((id) => {
    const sent: unknown[] = []
    const send = (message: unknown, connection?: Socket) => {
      sent.push(message)
      connection?.destroy()
    }
    const process = Object.assign(new EventEmitter(), { pid: id, connected: true, send, sent, kill: () => {} })
    return Object.assign(new EventEmitter(), { id, process })
  })
  const [first, second] = children as [(typeof children)[0], (typeof children)[0]]
  let forks = 0
  t.mock.method(cluster, 'setupPrimary', () => {})
  t.mock.method(cluster, 'fork', () => children[forks++])
  const pool = new WorkerPool(2, {}, { progress() {}, exited() {}, replaced() {}, failed: assert.ifError })
  const loaded = { kind: 'loaded', inMemoryDatabase: null, isSoleWriter: false }
  const started = pool.start()
  first.process.emit('message', loaded)
  first.emit('listening')
  first.process.emit('message', { kind: 'ready', ready: {} })
  while (forks < 2) await turn()

  await using server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connection = async () => {
    const accepted = once(server, 'connection')
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
    t.after(() => client.destroy())
    return (await accepted)[0]
  }
  const message = connectionMessage('2', Buffer.from('GET /socket.io/?sid=2.x'))
  const early = await connection()
  first.process.emit('message', message, early)
  assert.equal(early.destroyed, true)
  second.process.emit('message', loaded)
  while (second.process.sent.length === 0) await turn()
  assert.deepEqual(second.process.sent, [startMessage])
  second.emit('listening')
  first.process.emit('message', message, await connection())
  assert.deepEqual(second.process.sent, [startMessage, message])
  second.process.emit('message', { kind: 'ready', ready: {} })
  await started
  const stopped = pool.stop()
  for (const { process } of children) Object.assign(process, { connected: false }).emit('exit', 0, null)
  await stopped
})
